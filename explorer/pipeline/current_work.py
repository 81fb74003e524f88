"""What the compiler works on, for the report about a crash of the process.

The pipeline says which step or pass begins, and on which text. The process of a job passes both on, to where
they outlive it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from explorer.model import LineNumber
from explorer.pipeline.stages import STAGES, Artifact
from explorer.pipeline.tool_output import last_words

_MOST_LINES = 5
#: The lines around the last words that belong to them.
_LINES_AROUND = 3
_DOTTED_NAME = re.compile(r"\b[a-z_]\w*+(?:\.\w++)+")
_POSITION = re.compile(r'^loc\([^\n]{0,200}"kernel\.py":(\d{1,7}):\d{1,7}\)[^\n]{0,9}: error: ', re.MULTILINE)


class _Reports:
    """Where the reports go: nowhere, unless the process of a job says so."""

    begin: Callable[[str], None] | None = None
    keep: Callable[[str, str], None] | None = None


def report_to(begin: Callable[[str], None], keep: Callable[[str, str], None]) -> None:
    """Let `begin` report what begins, and `keep` keep the text that it works on, with the name of a stage."""
    _Reports.begin, _Reports.keep = staticmethod(begin), staticmethod(keep)


def begin(what: str) -> None:
    """Report that a step or a pass begins."""
    if _Reports.begin is not None:
        _Reports.begin(what)


def works_on(stage: str, text: str) -> None:
    """Report the text, with its locations, that the next steps or passes work on."""
    if _Reports.keep is not None:
        _Reports.keep(stage, text)


def named_lines(stage: str, text: str, output: str) -> tuple[LineNumber, ...]:
    """Return the lines of the script that the compiler's last words in its output name, at most five.

    The words name a line, or an operation or a function of the text that the compiler worked on.
    """
    words = last_words(output)
    if not words:
        return ()
    before, _, after = output.rpartition(words)
    if positions := _POSITION.findall("\n".join(before.splitlines()[-_LINES_AROUND:])):
        return (int(positions[-1]),)
    names = set(_DOTTED_NAME.findall("\n".join([words, *after.splitlines()[:_LINES_AROUND]])))
    return tuple(dict.fromkeys(_lines(stage, text, names)))[:_MOST_LINES]


def _lines(stage: str, text: str, names: set[str]) -> Iterator[LineNumber]:
    kind = next((each for each in STAGES if each.name == stage), None)
    if kind is None or not names:
        return
    read = kind.read(Artifact(text))
    locations = read.table.locations
    for line, indices in zip(read.text.splitlines(), read.table.lines, strict=False):
        if names.isdisjoint(_DOTTED_NAME.findall(line)):
            continue
        frames = (frame for index in indices for frame in locations[index].frames)
        yield from (frame.line for frame in frames if frame.file == "" and frame.line > 0)
