"""The query about two compilations for the findings that vanished and appeared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

import msgspec

from explorer.analysis.occupancy.theoretical import occupancy_of
from explorer.analysis.python_loops import PythonSource
from explorer.queries import findings
from explorer.queries.findings.case import block_uses_of
from explorer.queries.findings.finding import Finding
from explorer.queries.findings.pipelining import WAITING_BYTES
from explorer.queries.findings.spills import SPILL_VALUES
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.queries.why_facts import percent
from explorer.store import Record

#: The share of the programs that smaller tiles need: the last block of a dimension may be smaller.
_PROGRAMS = 0.9
#: The figure of a finding that stays is said if it becomes at most this share.
_MUCH_LOWER = 0.75
#: The rules that a rule hides: moves of spilled values are instructions, too, so that the shares of
#: other instructions are smaller. A fallback to few registers takes the place of spills.
_HIDDEN = {
    "register_cliff": ("spills", "loop_overhead", "wide_divisions"),
    "spills": ("loop_overhead", "wide_divisions"),
}
#: The rules with at most one finding about a binary or about a loop, whose line a change can move.
_ABOUT_BINARIES = ("register_cliff", "spills", "large_tensors")
_ABOUT_LOOPS = ("loop_overhead", "pipelining")


class Verdict(msgspec.Struct, frozen=True):
    """What the second compilation says about a finding of the first: whether it is gone, and in words.

    `is_proven`: it is gone, and nothing becomes worse.
    """

    is_removed: bool
    is_proven: bool
    text: str


class FindingChanges(msgspec.Struct, frozen=True):
    """The findings of the first compilation that the second does not have, and the reverse.

    A finding is the same if it has the same rule and severity, and the same text of its source line,
    otherwise the same number of the line, the same loop or binary if the rule is about these, or any line if
    it does not cost less. A low occupancy has not vanished unless the occupancy is higher. `worse` are the
    rules of findings that both have and that cost more in the second. `fixed` are the changed sizes of blocks
    that the grid does not follow, so that the second compilation does other work. `is_worse`: the work is
    another, or a warning has appeared or costs more. A warning does not count if it costs less than a warning
    that vanished, or was hidden by it: the verdicts of removed findings say which hidden warning is left.
    `verdicts` are about the findings of the first compilation, in their order.
    """

    vanished: list[Finding]
    appeared: list[Finding]
    worse: list[str]
    fixed: list[str]
    is_worse: bool
    verdicts: list[Verdict]


def _find(subject: Subject) -> FindingChanges:
    all_before, after = (
        [_Placed(each, record) for each in _findings(subject, record)] for record in subject.pair
    )
    before = list(all_before)
    pairs = []
    for is_same in (_have_equal_texts, _have_equal_lines, _have_equal_subjects, _is_no_cheaper):
        for each in list(before):
            same = next((other for other in after if is_same(each, other)), None)
            if same is not None:
                pairs.append((each.finding, same.finding))
                before.remove(each)
                after.remove(same)
    occupancy = _occupancy(subject.pair[1])
    as_low = [
        each
        for each in before
        if each.finding.rule == "occupancy_limit" and occupancy <= _evidence(each.finding, "occupancy")
    ]
    stays = {id(each): _stays(each, same) for each, same in pairs}
    stays |= {id(each.finding): _as_low(occupancy) for each in as_low}
    before = [each for each in before if each not in as_low]
    vanished, appeared = ([each.finding for each in left] for left in (before, after))
    worse = [pair for pair in pairs if _figure(pair[1]) > _figure(pair[0]) > 0]
    fixed = _fixed(*subject.pair)
    losses = list(dict.fromkeys(losses_of(vanished, appeared, worse)))
    left = list(dict.fromkeys(left_over(vanished, appeared)))
    return FindingChanges(
        vanished,
        appeared,
        [each.rule for each, _ in worse],
        fixed,
        bool(fixed or losses),
        [stays.get(id(each.finding)) or _verdict(fixed, losses, left) for each in all_before],
    )


def losses_of(
    vanished: list[Finding], appeared: list[Finding], worse: list[tuple[Finding, Finding]]
) -> Iterator[str]:
    """Yield in words each warning that outweighs the warnings that vanished."""
    hidden, hidden_now = _hidden_by(vanished), _hidden_by(appeared)
    gains = (each for each in vanished if each.severity == "warning" and each.rule not in hidden_now)
    gain = max(map(_percent, gains), default=0)
    losses = [
        # An unknown cost can be any.
        *(
            (each, _percent(each) or math.inf, f"`{each.rule}` appears{_cost_words(each)}")
            for each in appeared
        ),
        *(
            (
                each,
                math.inf if _spilled_bytes(each) is not None else _percent(each) - _percent(old),
                f"`{each.rule}` costs more: {_amount(old)} → {_amount(each)}",
            )
            for old, each in worse
        ),
    ]
    for each, loss, text in losses:
        if each.severity == "warning" and each.rule not in hidden and loss >= gain:
            yield text


def left_over(vanished: list[Finding], appeared: list[Finding]) -> Iterator[str]:
    """Yield in words each warning that appears because a warning that vanished had hidden it."""
    hidden = _hidden_by(vanished)
    for each in appeared:
        if each.severity == "warning" and each.rule in hidden:
            spilled = _spilled_bytes(each)
            yield (
                f"`{each.rule}` is left{_cost_words(each)}"
                if spilled is None
                else f"spills of a thread still move {spilled:,.0f} bytes"
            )


def _hidden_by(found: list[Finding]) -> set[str]:
    return {rule for each in found if each.severity == "warning" for rule in _HIDDEN.get(each.rule, ())}


def _stays(finding: Finding, same: Finding) -> Verdict:
    """Return the verdict on a finding that both have, which says whether its figure is much lower."""
    text = "the finding stays"
    if (spilled := _spilled_bytes(finding)) is not None and (left := _spilled_bytes(same)) is not None:
        if left <= _MUCH_LOWER * spilled:
            text += f": spills move {percent(1 - left / spilled)} fewer bytes"
    elif (occupancy := _evidence(same, "occupancy")) > _evidence(finding, "occupancy"):
        text += f": the occupancy is {percent(occupancy)}"
    elif (waiting := _evidence(same, WAITING_BYTES)) < (waited := _evidence(finding, WAITING_BYTES)):
        text += f": the loop waits for {waiting:,.0f} of {waited:,.0f} bytes"
    elif finding.cost and same.cost and same.cost.share <= _MUCH_LOWER * finding.cost.share:
        text += f": {percent(finding.cost.share)} → {percent(same.cost.share)} of the {same.cost.of}"
    return Verdict(False, False, text)


def _as_low(occupancy: float) -> Verdict:
    """Return the verdict on a low occupancy that is no finding any more, but not higher."""
    return Verdict(False, False, f"the occupancy is not higher: {percent(occupancy)}")


def _occupancy(record: Record) -> float:
    """Return the occupancy of a binary; if it is not known, more than there can be."""
    found = occupancy_of(record.result.resources, record.request.target)
    return found.share if found else math.inf


def _evidence(finding: Finding, name: str) -> float:
    return next((each.value for each in finding.evidence if each.name == name), 0)


def _spilled_bytes(finding: Finding) -> float | None:
    """Return the bytes that spills store and load; None if the finding is about something else."""
    values = [each.value for each in finding.evidence if each.name in SPILL_VALUES]
    return sum(values) if values else None


def _verdict(fixed: list[str], losses: list[str], left: list[str]) -> Verdict:
    """Return the verdict on a finding that vanished."""
    if fixed:
        text = f"the grid of the script does not follow {', '.join(fixed)}"
    else:
        text = "; ".join(losses or ["proven in the compiler", *left])
    return Verdict(True, not fixed and not losses, text)


def _fixed(before: Record, after: Record) -> list[str]:
    """Return the changed sizes that programs share the work by, unless the grid changes as much."""
    old, new = before.result.specialized, after.result.specialized
    if old is None or new is None or not old.grid or not new.grid:
        return []
    uses = block_uses_of(before)
    values = {each.name: each.value for each in old.arguments if each.type == "constexpr"}
    ratios = {
        each.name: size / each.value
        for each in new.arguments
        if each.name in uses
        and uses[each.name].by_grid
        and isinstance(size := values.get(each.name), int)
        and isinstance(each.value, int)
        and each.value not in (0, size)
    }
    programs = math.prod(new.grid) / max(1, math.prod(old.grid))
    return [] if programs >= _PROGRAMS * math.prod(ratios.values()) else list(ratios)


def _findings(subject: Subject, record: Record) -> list[Finding]:
    """Return the findings about one of the two compilations."""
    alone = replace(subject, records=(record,), parameters={})

    def answer(query: Query, parameters: Mapping[str, str]) -> bytes:
        return msgspec.json.encode(query.find(replace(alone, parameters=parameters, answer=answer)))

    return findings.find(replace(alone, answer=answer)).findings


class _Placed:
    """A finding and the text of its source line."""

    def __init__(self, finding: Finding, record: Record) -> None:
        texts, line = record.source_numbers.texts, finding.source_line
        self.finding = finding
        self.text = texts[line - 1].strip() if 0 < line <= len(texts) else ""
        self._source = "" if record.request.files else record.request.source

    @cached_property
    def loop(self) -> int:
        """The number of the innermost loop of the source that contains the line, from 1; 0: none."""
        return PythonSource(self._source).loop_at(self.finding.source_line)


def _have_equal_texts(one: _Placed, other: _Placed) -> bool:
    return (*_kind(one), one.text) == (*_kind(other), other.text)


def _have_equal_lines(one: _Placed, other: _Placed) -> bool:
    return (*_kind(one), one.finding.source_line) == (*_kind(other), other.finding.source_line)


def _have_equal_subjects(one: _Placed, other: _Placed) -> bool:
    if _kind(one) != _kind(other):
        return False
    rule = one.finding.rule
    return rule in _ABOUT_BINARIES or (rule in _ABOUT_LOOPS and one.loop == other.loop)


def _is_no_cheaper(one: _Placed, other: _Placed) -> bool:
    """Return whether a finding elsewhere takes the place of another. An unknown cost can be any.

    Messages say different things.
    """
    cost, other_cost = _percent(one.finding), _percent(other.finding)
    return _kind(one) == _kind(other) and one.finding.rule != "messages" and not 0 < other_cost < cost


def _kind(placed: _Placed) -> tuple[str, str]:
    return placed.finding.rule, placed.finding.severity


def _figure(finding: Finding) -> float:
    """Return a figure to compare with that of another finding of the same rule."""
    spilled = _spilled_bytes(finding)
    return spilled if spilled is not None else _percent(finding)


def _cost_words(finding: Finding) -> str:
    return f", {_percent(finding)} % of the {finding.cost.of}" if finding.cost else ""


def _amount(finding: Finding) -> str:
    spilled = _spilled_bytes(finding)
    return f"{_percent(finding)} %" if spilled is None else f"{spilled / 1024:.1f} KiB"


def _percent(finding: Finding) -> int:
    """Return the cost of a finding in percent; 0: it is not known."""
    return round(100 * finding.cost.share) if finding.cost else 0


QUERY = Query(
    name="finding_changes",
    about="pair",
    path="/findings",
    summary="The findings that vanished and appeared between two compilations.",
    version=7,
    document=FindingChanges,
    find=_find,
    saved=nothing_saved,
)
