"""Follow one operation through the passes."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import msgspec

from explorer.agents.api import Api, document
from explorer.agents.tool import Id, PassIndex, Stage, page_of
from explorer.documents import shortened
from explorer.queries.lineage import Instructions, LineageDocument, OperationLine

_MOST_OPERATIONS = 4


class Step(msgspec.Struct, frozen=True):
    """The operations after the pass `pass_index`; `count` is their number.

    `is_touched`: the pass made, changed or removed one of them. `is_known` is false where that is unknown.
    """

    pass_index: int
    operations: list[OperationLine]
    count: int
    is_touched: bool
    is_known: bool


class OperationLineage(msgspec.Struct, frozen=True):
    """The origin of an operation and its results, in the passes that touched it.

    `made_by` is the pass that made the operation from `made_from`; `removed_by` the pass after which no
    operation comes from it. `instructions` are lines of the machine code.
    """

    steps: list[Step]
    total_steps: int
    made_by: int | None
    made_from: list[OperationLine]
    source_lines: list[int]
    unknown_before: int | None
    removed_by: int | None
    instructions: list[Instructions]
    next: str


async def follow_operation(
    api: Api,
    compilation: Id,
    line: Annotated[int, msgspec.Meta(ge=1, description="Line of the stage, or of the text after the pass")],
    stage: Stage = "ttgir",
    index: PassIndex | None = None,
) -> OperationLineage:
    """Follow the operation in a line: its origin, pass by pass, and its instructions.

    The line belongs to a stage (ttir, ttgir, sass, amdgcn), or to the module after the pass `index`.
    """
    asked = {"line": str(line), **({"stage": stage} if index is None else {"pass": str(index)})}
    found = await document(api, f"/compilations/{compilation}/lineage?{urlencode(asked)}", LineageDocument)
    steps = [
        Step(each.index, _shown(each.lines), each.count, each.is_touched, each.is_known)
        for place, each in enumerate(found.steps)
        if each.is_touched or place == found.asked
    ]
    rows = page_of(steps)
    return OperationLineage(
        rows,
        len(steps),
        found.made_by,
        _shown(found.made_from),
        found.source_lines[:100],
        found.unknown_before,
        found.removed_by,
        [msgspec.structs.replace(each, lines=each.lines[:100]) for each in found.instructions],
        "Call diff_pass with the pass_index of a step, or read_stage with the line of an instruction.",
    )


def _shown(lines: list[OperationLine]) -> list[OperationLine]:
    return [
        msgspec.structs.replace(each, text=shortened(each.text), origins=each.origins[:20])
        for each in lines[:_MOST_OPERATIONS]
    ]
