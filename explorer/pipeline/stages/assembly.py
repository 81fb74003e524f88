"""The common parts of PTX and AMDGCN: DWARF line directives, and debug sections that are not shown.

A `.loc` applies to the instructions after it, until the next `.loc` or the end of the function.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from explorer.pipeline.locations import Frames, LocationTable
from explorer.pipeline.stages.stage import Artifact, StageText

_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_CALL_SITE = re.compile(r"@\[ ([^\[\]]*?):(\d+):(\d+)")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(.*)$")

#: (file path of the directive, line, column, rest of the line, the known paths) → the frames.
Chain = Callable[[str, int, int, str, dict[str, str]], Frames]


def call_sites(comment: str, paths: dict[str, str]) -> list[tuple[str, int, int]]:
    """Return path, line and column of the callers in the comment of a `.loc`, the innermost first.

    In `standard.py:43:13 @[ kernel.py:11:23 ]`, files are named without their folders.
    """

    def path_of(name: str) -> str:
        return next((path for path in paths.values() if path.rsplit("/", 1)[-1] == name), name)

    return [(path_of(name), int(line), int(column)) for name, line, column in _CALL_SITE.findall(comment)]


def file_paths(raw: str) -> dict[str, str]:
    """Return the path of each `.file` directive by its number."""
    paths = {}
    for line in raw.splitlines():
        found = _FILE.match(line)
        if found:
            number, directory, name = found.groups()
            paths[number] = directory if name is None else f"{directory}/{name}"
    return paths


def read_assembly(
    artifact: Artifact,
    *,
    chain: Chain,
    is_hidden: re.Pattern[str],
    is_instruction: re.Pattern[str],
    starts_over: re.Pattern[str],
    debug_section: re.Pattern[str],
    shown_section: re.Pattern[str],
) -> StageText:
    """Read an assembly text: `.loc` directives become locations, and debug sections are left out.

    Lines that match `is_hidden` are left out. From a line that matches `debug_section` to the next line that
    matches `shown_section`, lines are left out. From a line that matches `starts_over`, the last `.loc` no
    longer applies.
    """
    raw = str(artifact.value)
    table = LocationTable()
    paths = file_paths(raw)
    shown: list[str] = []
    raw_lines: list[int] = []
    current: Frames = ()
    in_debug_section = False
    for index, line in enumerate(raw.splitlines()):
        if debug_section.match(line):
            in_debug_section = True
        elif in_debug_section and shown_section.match(line):
            in_debug_section = False
        if in_debug_section:
            continue
        location = _LOC.match(line)
        if location:
            number, line_number, column, rest = location.groups()
            current = chain(paths.get(number, ""), int(line_number), int(column), rest, paths)
            continue
        if is_hidden.match(line) or (not line and shown and not shown[-1]):
            continue
        if starts_over.match(line):
            current = ()
        table.add_line([current] if current and is_instruction.match(line) else [])
        shown.append(line)
        raw_lines.append(index)
    return StageText("\n".join(shown) + "\n", raw, table, tuple(raw_lines))
