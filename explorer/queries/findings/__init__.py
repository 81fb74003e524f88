"""The findings about a compilation: what costs speed, why, and what changes it.

A rule is one file here with a title and a function from a `Case` to its findings, and one line in `RULES`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import ModuleType

import msgspec

from explorer.errors import ExplorerError, NotAnswerable
from explorer.queries.findings import (
    assertions,
    atomic_loops,
    autotune_keys,
    bank_conflicts,
    conversions,
    descriptors,
    double_precision,
    few_elements,
    grid,
    guessed_arguments,
    index_overflow,
    large_tensors,
    loop_overhead,
    matrix_units,
    messages,
    narrow_accesses,
    occupancy_limit,
    pipelining,
    register_cliff,
    sectors,
    serialized_products,
    spills,
    wide_divisions,
)
from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.finding import Finding
from explorer.queries.query import Query, Subject

#: The rules. Findings of equal cost have this order.
RULES: tuple[ModuleType, ...] = (
    index_overflow,
    register_cliff,
    spills,
    serialized_products,
    messages,
    matrix_units,
    double_precision,
    atomic_loops,
    sectors,
    pipelining,
    conversions,
    bank_conflicts,
    loop_overhead,
    narrow_accesses,
    few_elements,
    wide_divisions,
    large_tensors,
    occupancy_limit,
    descriptors,
    grid,
    autotune_keys,
    assertions,
    guessed_arguments,
)

#: The rules whose findings are about the bytes that an operation moves. Few of them cost little.
_ABOUT_BYTES = ("sectors", "conversions", "narrow_accesses")
_FEW = 0.05


class Checked(msgspec.Struct, frozen=True):
    """A rule that was checked. `reason` says why it could not be checked, "" if it was."""

    rule: str
    title: str
    findings: int
    reason: str


class FindingsDocument(msgspec.Struct, frozen=True):
    """The findings, warnings first, then by cost; and the rules that were checked."""

    findings: list[Finding]
    checked: list[Checked]


def find(subject: Subject) -> FindingsDocument:
    """Return the findings about a compilation.

    Raises:
        NotAnswerable: the compilation is not complete.
    """
    if subject.record.status != "complete":
        raise NotAnswerable("Findings are about a complete compilation. See the messages of this one.")
    case = Case(subject)
    findings: list[Finding] = []
    checked: list[Checked] = []
    for rule in RULES:
        found: list[Finding] = []
        reason = ""
        try:
            found = list(_different(rule.find(case)))
        except (NotChecked, ExplorerError) as error:
            reason = str(error)
        except RecursionError:
            reason = "The source is nested too deeply."
        findings += found
        checked.append(Checked(rule.__name__.rpartition(".")[2], rule.TITLE, len(found), reason))
    findings.sort(key=lambda each: (each.severity != "warning", *_order(case, each)))
    return FindingsDocument(findings, checked)


def _order(case: Case, finding: Finding) -> tuple[bool, float]:
    """Return the order of a finding: whether it is about few of the bytes that a program moves, and its cost.

    The cost of an access counts as far as its bytes are part of these bytes.
    """
    cost = finding.cost.share if finding.cost else 0.0
    try:
        total = sum(case.moved_bytes.values())
        moved = case.moved_bytes.get(finding.ttgir_line)
    except (NotChecked, ExplorerError, RecursionError):
        return False, -cost
    if finding.rule == "conversions":
        moved = int(finding.evidence[0].value) * case.turns_of(finding.ttgir_line)
    if finding.rule not in _ABOUT_BYTES or moved is None or not total:
        return False, -cost
    return moved < _FEW * total, -cost * min(1, moved / total)


def _different(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings once: the pipeliner copies the operations of a loop, which all say the same."""
    seen = set()
    for each in found:
        key = each.source_line, each.text
        if not each.source_line or key not in seen:
            yield each
        seen.add(key)


QUERY = Query(
    name="findings",
    summary="What costs speed in this kernel, with evidence, cause and advice, the most costly first.",
    version=8,
    document=FindingsDocument,
    find=find,
)
