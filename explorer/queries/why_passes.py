"""The path of an operation from its source line through the passes, in words.

In: the answer to `lineage`. Out: a statement for each pass that made or changed the operation, and a
statement for its instructions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from explorer.analysis.pass_roles import has_role
from explorer.queries.lineage import Instructions, LineageDocument, LineageStep
from explorer.queries.why_facts import WhyFact, WhyLink, code, counted, listed
from explorer.store import Record

_SNAPSHOTS = "location snapshots of a second compilation"
_LINES = "line information of a second compilation"
_LONGEST_TEXT = 100


def way_facts(record: Record, document: LineageDocument) -> Iterator[WhyFact]:
    """Yield the effects of the passes, in order."""
    yield from _origin(record, document)
    steps = document.steps
    for place in range(1, len(steps)):
        if has_role(record.result.passes[steps[place].index].name, "lower to LLVM"):
            yield _lowered(record, steps[place])
            break
        if steps[place].is_touched:
            yield _change(record, document, steps[place - 1], steps[place])
    if document.removed_by is not None:
        name, link = _pass(record, document.removed_by)
        yield WhyFact(f"{name} removed it: nothing comes from it there.", "observed", _SNAPSHOTS, (link,))
    for each in document.instructions:
        yield _instructions(each)


def _origin(record: Record, document: LineageDocument) -> Iterator[WhyFact]:
    lines = record.request.source.split("\n")
    written = [number for number in document.source_lines if 0 < number <= len(lines)]
    if written:
        texts = (f"line {number}, {_shortened(lines[number - 1].strip())}" for number in written)
        yield WhyFact(f"The source has it in {listed(texts)}.", "observed", "locations of the compiler")
    elif document.unknown_before is not None:
        name, link = _pass(record, document.unknown_before)
        yield WhyFact(
            f"{name} made {_names(document.steps[0])} without a location: what it was made from is unknown.",
            "inferred",
            _SNAPSHOTS,
            (link,),
        )


def _lowered(record: Record, step: LineageStep) -> WhyFact:
    """State the number of LLVM operations made from the operation. Later passes change these."""
    name, link = _pass(record, step.index, step)
    return WhyFact(
        f"{name} lowers it to {counted(step.count, 'operation')} of LLVM.", "observed", _SNAPSHOTS, (link,)
    )


def _change(record: Record, document: LineageDocument, before: LineageStep, after: LineageStep) -> WhyFact:
    name, link = _pass(record, after.index, after)
    if not (before.is_known and after.is_known):
        return WhyFact(f"{name} touched it; its module differs here.", "inferred", _SNAPSHOTS, (link,))
    old, new = _counts(before), _counts(after)
    if after.index == document.made_by:
        origins = listed(map(code, sorted({row.operation for row in document.made_from})))
        words = f"made {_names(after)} from {origins}"
    elif old == new:
        words = f"changed {_names(after)}: its types, attributes or operands"
    else:
        words = f"turned {_names(before)} into {_names(after)}"
    return WhyFact(f"{name} {words}.", "observed", _SNAPSHOTS, (link,))


def _instructions(found: Instructions) -> WhyFact:
    if not found.is_equal:
        return WhyFact(
            f"Its {found.title} is unknown: {counted(found.differing_lines, 'line')} of it differ when it is "
            "compiled with other line information.",
            "inferred",
            _LINES,
        )
    if not found.lines:
        return WhyFact(
            f"No {found.title} instruction has its location: LLVM has removed it, or merged or moved it.",
            "inferred",
            _LINES,
        )
    link = WhyLink(f"{found.title}, line {found.lines[0]}", found.stage, None, found.lines[0])
    verb = "comes" if len(found.lines) == 1 else "come"
    text = f"{counted(len(found.lines), f'{found.title} instruction')} {verb} from it."
    return WhyFact(text, "inferred", _LINES, (link,))


def _pass(record: Record, index: int, step: LineageStep | None = None) -> tuple[str, WhyLink]:
    entry = record.result.passes[index]
    line = step.lines[0].line if step and step.lines else 0
    return code(entry.name), WhyLink(entry.name, entry.stage, index, line)


def _counts(step: LineageStep) -> Counter[str]:
    return Counter(row.operation for row in step.lines)


def _names(step: LineageStep) -> str:
    """Return the operations of a step by name, with the number of each."""
    names = (code(name) + (f" ×{count}" if count > 1 else "") for name, count in _counts(step).items())
    return listed(names) or "it"


def _shortened(text: str) -> str:
    return code(text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} …")
