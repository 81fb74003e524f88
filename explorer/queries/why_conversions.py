"""Why a layout conversion exists: the producer of the tensor in one layout, and the users of the other
layout.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from explorer.analysis.mlir.operations import Function, Operation, find_operation
from explorer.queries import layouts
from explorer.queries.query import Subject
from explorer.queries.why_facts import WhyFact, WhyLink, code, listed

CONVERSION = "ttg.convert_layout"


def conversion_facts(subject: Subject, place: dict[str, str], line: int, text: str) -> Iterator[WhyFact]:
    """Yield the producer and the users of the converted tensor, and its data movement.

    `place` are the parameters that name the module of the text: `stage` or `pass`.
    """
    found = find_operation(text, line)
    if found is None:
        return
    function, conversion = found
    answer = subject.answer(layouts.QUERY, place)
    document = msgspec.json.decode(answer, type=layouts.LayoutsDocument)
    row = next((each for each in document.conversions if each.line == line), None)
    if row is None:
        return
    old, new = (document.layouts[index].label for index in (row.origin, row.result))
    source = "the text of the module"
    maker, how = _definer(function, conversion.operands[0])
    yield WhyFact(f"{how} in {code(old)}.", "observed", source, _links(place, [maker] if maker else []))
    users = [each for each in function.operations if conversion.results[0] in each.operands and each.text]
    names = listed(f"{code(each.name)} in line {each.line} of the module" for each in users)
    verb = "takes" if len(users) == 1 else "take"
    yield WhyFact(
        f"{names} {verb} it in {code(new)}." if users else "Nothing uses its result.",
        "observed",
        source,
        _links(place, users),
    )
    if row.movement != "unknown":
        is_said = row.movement_source == "compiler"
        yield WhyFact(
            row.words,
            "observed" if is_said else "modelled",
            "the compiler" if is_said else "linear layouts of both sides",
        )


def _definer(function: Function, value: str) -> tuple[Operation | None, str]:
    """Return the operation that a value comes from, and its description."""
    for operation in function.operations:
        if value in operation.results:
            return (
                operation,
                f"{code(operation.name)} in line {operation.line} of the module makes the tensor",
            )
        for region in operation.regions:
            if any(value in block.arguments for block in region.blocks):
                return (
                    operation,
                    f"{code(operation.name)} in line {operation.line} of the module carries the tensor",
                )
    return None, "The tensor is made"


def _links(place: dict[str, str], operations: list[Operation]) -> tuple[WhyLink, ...]:
    index = int(place["pass"]) if "pass" in place else None
    stage = place.get("stage", "")
    return tuple(
        WhyLink(f"{each.name}, line {each.line} of the module", stage, index, each.line)
        for each in operations[:3]
    )
