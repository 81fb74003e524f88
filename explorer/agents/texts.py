"""Read and search the texts of a compilation: stages, and the changes of passes."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

import msgspec

from explorer.agents.api import Api, document, get
from explorer.agents.tool import (
    First,
    FirstLine,
    Id,
    Lines,
    PassIndex,
    Stage,
    TextPage,
    more,
    page_from,
    page_of,
    text_page,
)
from explorer.documents import CompilationDocument, FoundLine, FoundLinesDocument, TextLinesDocument
from explorer.queries.pass_search import PassMatches

_Text = Annotated[
    str, msgspec.Meta(min_length=1, max_length=200, description="Part of a line, in upper or lower case")
]


class PassRow(msgspec.Struct, frozen=True):
    """A compiler pass on the way to `stage`. `failed`: the compilation ended in it."""

    index: int
    stage: str
    name: str
    changed: bool
    failed: bool
    milliseconds: float


class Passes(msgspec.Struct, frozen=True):
    """Compiler passes in their order. `total` is the number of the requested passes."""

    passes: list[PassRow]
    total: int
    next: str


class FoundLines(msgspec.Struct, frozen=True):
    """The lines of a stage that contain a text."""

    lines: list[FoundLine]
    total: int
    next: str


class FoundPass(PassMatches, frozen=True):
    """The lines that contain the text, before and after the pass `name` on the way to `stage`."""

    name: str
    stage: str


class FoundPasses(msgspec.Struct, frozen=True):
    """The passes that change the number of lines that contain a text."""

    passes: list[FoundPass]
    total: int
    next: str


async def read_lines(
    api: Api, compilation: Id, stage: Stage, first: int, last: int | None = None
) -> TextLinesDocument:
    """Return lines of a stage, as many as the API returns at once. The server reads only these lines."""
    query = urlencode({"from": first} if last is None else {"from": first, "to": last})
    return await document(api, f"/compilations/{compilation}/stages/{stage}/text?{query}", TextLinesDocument)


async def read_stage(api: Api, compilation: Id, stage: Stage, first_line: FirstLine = 1) -> TextPage:
    """Return lines of a stage: ast, ttir, ttgir, llir, ptx, sass, amdgcn. The compilation lists them."""
    found = await read_lines(api, compilation, stage, first_line)
    return text_page(found.lines, found.total, first_line, "read_stage")


async def search_stage(api: Api, compilation: Id, stage: Stage, text: _Text, first: First = 0) -> FoundLines:
    """Find the lines of a stage that contain a text, such as "convert_layout" in ttgir or "STL" in sass."""
    query = urlencode({"text": text, "first": first})
    found = await document(
        api, f"/compilations/{compilation}/stages/{stage}/search?{query}", FoundLinesDocument
    )
    rows = page_of(found.lines)
    end = first + len(rows)
    return FoundLines(rows, found.total, more("search_stage", "first", end, found.total - end))


async def list_passes(
    api: Api,
    compilation: Id,
    stage: Stage | None = None,
    all_passes: Annotated[bool, msgspec.Meta(description="Include passes that changed nothing")] = False,
    first: First = 0,
) -> Passes:
    """List the compiler passes that changed the module, in order, of one stage or of all."""
    index = await document(api, f"/compilations/{compilation}", CompilationDocument)
    wanted = [
        PassRow(each.index, each.stage, each.name, each.changed, each.failed, each.milliseconds)
        for each in index.passes
        if stage in (None, each.stage) and (all_passes or each.changed or each.failed)
    ]
    rows, left = page_from(wanted, len(wanted), first, "list_passes")
    return Passes(rows, len(wanted), left or "Call diff_pass with the index of a pass.")


async def diff_pass(api: Api, compilation: Id, index: PassIndex, first_line: FirstLine = 1) -> TextPage:
    """Return the changes of a compiler pass, as a unified diff. No lines: the pass changed nothing."""
    return await get(
        api,
        f"/compilations/{compilation}/passes/{index}/diff",
        lambda text: Lines(text).page(first_line, "diff_pass"),
    )


async def search_passes(api: Api, compilation: Id, text: _Text, first: First = 0) -> FoundPasses:
    """Find the passes after which a text appears, vanishes, or is in more or fewer lines than before."""
    found = await get(
        api,
        f"/compilations/{compilation}/passes/search?{urlencode({'text': text})}",
        lambda body: msgspec.json.decode(body, type=list[PassMatches]),
    )
    index = await document(api, f"/compilations/{compilation}", CompilationDocument)
    passes = {each.index: each for each in index.passes}
    named = (
        FoundPass(
            **msgspec.structs.asdict(each), name=passes[each.index].name, stage=passes[each.index].stage
        )
        for each in found
    )
    rows, left = page_from(named, len(found), first, "search_passes")
    return FoundPasses(rows, len(found), left or "Call diff_pass with the index of a pass.")
