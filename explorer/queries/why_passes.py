"""The path of an operation from its source line through the passes, in words.

In: the answer to `lineage`. Out: a statement for each pass that made or changed the operation, and a
statement for its instructions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from explorer.analysis.diff.values import alias_meanings, with_meanings
from explorer.analysis.mlir.layout_text import LayoutText, layout_text
from explorer.analysis.pass_roles import Role, has_role
from explorer.queries.lineage import Instructions, LineageDocument, LineageStep
from explorer.queries.why_facts import WhyFact, WhyLink, code, counted, listed
from explorer.store import Record

_SNAPSHOTS = "location snapshots of a second compilation"
_LINES = "line information of a second compilation"
_LONGEST_TEXT = 100
#: What the layouts of a pass are for.
_PURPOSES: dict[Role, str] = {
    "choose layouts of accesses": "The pass chooses the layouts of accesses: the lanes follow the dimension "
    "of consecutive addresses, and a thread has as many consecutive elements as the addresses, the tile and "
    "accesses of 16 bytes allow.",
    "remove layout conversions": "The pass lets an operation have the layout of the operations that it is "
    "computed from or for, where this saves conversions.",
}


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
        words = _layouts(record, before, after) or (
            f"changed {_names(after)}: its types, attributes or operands"
        )
    else:
        words = f"turned {_names(before)} into {_names(after)}"
    return WhyFact(f"{name} {words}.", "observed", _SNAPSHOTS, (link,))


def _layouts(record: Record, before: LineageStep, after: LineageStep) -> str:
    """Return what happened to the layout of the first operation; "" if its layout is as it was."""
    old, new = _layout(record, before), _layout(record, after)
    if new is None or old == new:
        return ""
    name = code(after.lines[0].operation)
    if old is None:
        words = f"gave {name} the layout {code(new.kind)}"
    elif old.kind != new.kind:
        words = f"changed the layout of {name} from {code(old.kind)} to {code(new.kind)}"
    else:
        changed = (
            f"{code(key)} {old.parameters.get(key, 'none')} → {new.parameters.get(key, 'none')}"
            for key in dict.fromkeys((*old.parameters, *new.parameters))
            if old.parameters.get(key) != new.parameters.get(key)
        )
        words = f"changed the layout of {name}: {listed(changed)}"
    pass_name = record.result.passes[after.index].name
    purpose = next((text for role, text in _PURPOSES.items() if has_role(pass_name, role)), "")
    return f"{words}. {purpose}".rstrip(" .")


def _layout(record: Record, step: LineageStep) -> LayoutText | None:
    lines = record.text_after_pass(step.index).split("\n")
    number = step.lines[0].line if step.lines else 0
    meanings = alias_meanings([line for line in lines if line])
    return layout_text(with_meanings(lines[number - 1], meanings)) if 0 < number <= len(lines) else None


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
