"""The query for PTX as C: the same kernel with names of the source, each line linked to its lines of PTX."""

from __future__ import annotations

import msgspec

from explorer.analysis.graphs import NothingToDraw
from explorer.analysis.ptx_as_c import Names, VerbatimInstruction, identifiers_in, read_names, translate
from explorer.errors import NotAnswerable
from explorer.lexers import Span, highlight_lines
from explorer.queries.query import Query, Subject
from explorer.store import Record, StageEntry

MOST_LINES = 20_000
_MOST_CHARACTERS = 2_000


class LineOfC(msgspec.Struct, frozen=True):
    """A line of C. `tokens` are pairs of a Pygments class and the text.

    `ptx_lines` are the lines of PTX, from 1, that it was made from, and `source_lines` the lines of the
    user's source that these come from.
    """

    tokens: list[Span]
    ptx_lines: tuple[int, ...]
    source_lines: tuple[int, ...]


class PtxAsCDocument(msgspec.Struct, frozen=True):
    """PTX as C, a reading aid. Variables are named after registers, and after values of the source if known.

    `total_lines` counts the lines of C, of which at most 20,000 are in `lines`. `instructions` counts the
    instructions of PTX, and `verbatim` the instructions that are shown as PTX. `named` of the `variables`
    have a name of the source.
    """

    lines: tuple[LineOfC, ...]
    total_lines: int
    instructions: int
    verbatim: tuple[VerbatimInstruction, ...]
    variables: int
    named: int


def _find(subject: Subject) -> PtxAsCDocument:
    record = subject.record
    stage = record.result.stages.get("ptx")
    if stage is None:
        raise NotAnswerable("The compilation has no PTX, so there is no C.")
    try:
        translation = translate(record.text(stage.text), _names(record, stage))
    except NothingToDraw as error:
        raise NotAnswerable(str(error)) from error
    source_lines = record.source_lines(stage)
    shown = translation.lines[:MOST_LINES]
    texts = [line.text[:_MOST_CHARACTERS] for line in shown]
    return PtxAsCDocument(
        lines=tuple(
            LineOfC(tokens, line.ptx_lines, _sources(line.ptx_lines, source_lines))
            for tokens, line in zip(highlight_lines(texts, "c"), shown, strict=True)
        ),
        total_lines=len(translation.lines),
        instructions=translation.instructions,
        verbatim=translation.verbatim,
        variables=translation.variables,
        named=translation.named,
    )


def _names(record: Record, ptx: StageEntry) -> Names:
    module = record.result.stages.get("ttgir")
    if module is None:
        return Names()
    request = record.request
    identifiers = identifiers_in((request.source, *request.files.values()))
    return read_names(record.text(module.text), _places(record, module), _places(record, ptx), identifiers)


def _places(record: Record, stage: StageEntry) -> list[tuple[object, ...]]:
    """Return the locations of each line without the names of functions, which differ between stages."""
    table = record.locations(stage)
    places = [tuple((each.file, each.line, each.column) for each in one.frames) for one in table.locations]
    return [tuple(places[index] for index in indices) for indices in table.line_locations]


def _sources(ptx_lines: tuple[int, ...], source_lines: list[tuple[int, ...]]) -> tuple[int, ...]:
    found = (line for number in ptx_lines if number <= len(source_lines) for line in source_lines[number - 1])
    return tuple(dict.fromkeys(found))


QUERY = Query(
    name="ptx_as_c",
    summary="PTX as C that is quicker to read: loops, conditions, expressions, and names of the source.",
    version=1,
    document=PtxAsCDocument,
    find=_find,
)
