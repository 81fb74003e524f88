"""Reads MLIR text that was printed with locations: the text without locations, and the location of each line.

The location of an operation is at its end. The end of an operation with regions is the line that closes the
last region, so the line that opens the operation gets the same location. Aliases (`#loc7 = loc(...)`) are
nested: named, callsite and fused locations are resolved to frames.

Source: the printers of MLIR's built-in locations, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re

from explorer.pipeline.locations import Frames, LocationTable, frame
from explorer.pipeline.stages.stage import Artifact, StageText

#: The name of a module's kernel.
FUNCTION = re.compile(r"\btt\.func (?:public )?@([\w$.]+)")

_ALIAS_LINE = re.compile(r"^#loc\d* = loc\((.*)\)$")
#: Begins with a literal, which `re` finds fast, as `_LOCATION` does.
_ALIAS_LINES = re.compile(r"\n#loc\d* = loc\(.*\)(?=\n)")
_STRING = r'"(?:[^"\\]|\\.)*"'
_FLAT = rf'(?:[^()"]|{_STRING})'
#: A string of any characters, or a location, nested up to three levels deep: "name"(callsite(…)).
_STRING_OR_LOCATION = re.compile(
    rf"{_STRING}| loc\(((?:[^()\"]|{_STRING}|\((?:[^()\"]|{_STRING}|\({_FLAT}*\))*\))*)\)"
)
#: A location in a text without strings.
_LOCATION = re.compile(r" loc\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\)")
_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<alias>#loc\d*)|(?P<word>callsite|fused|unknown|at|to)'
    r"|(?P<number>\d{1,9})|(?P<mark>[()\[\],:<>]))"
)
_POSITION = re.compile(r'"((?:[^"\\]|\\.)*)":(\d{1,9}):(\d{1,9})')
_FUSED_METADATA = re.compile(r"fused<(?:[^<>\"]|\"(?:[^\"\\]|\\.)*\"|<[^<>]*>)*>")


class _Aliases:
    """The location aliases of one module. Each is resolved once."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self._definitions = definitions
        self._resolved: dict[str, list[Frames]] = {}

    def resolve(self, text: str) -> list[Frames]:
        """Return the chains of frames of the inside of a `loc(...)`."""
        known = self._resolved.get(text)
        if known is None:
            self._resolved[text] = []  # An alias that refers to itself has no location.
            known = self._resolved[text] = self._read(text)
        return known

    def _read(self, text: str) -> list[Frames]:
        """Read a location. Most are aliases or positions, which need no parser."""
        if text in self._definitions:
            return self.resolve(self._definitions[text])
        if position := _POSITION.fullmatch(text):
            return [(frame(position[1], int(position[2]), int(position[3])),)]
        chains, _ = self._parse(list(_TOKEN.finditer(_FUSED_METADATA.sub("fused", text))), 0)
        return chains

    def _parse(self, tokens: list[re.Match[str]], at: int) -> tuple[list[Frames], int]:
        """Parse one location from token `at`; return its chains and the token after it."""
        if at >= len(tokens):
            return [], at
        kind, text = tokens[at].lastgroup, tokens[at].group().strip()
        if kind == "alias":
            definition = self._definitions.get(text)
            return ([] if definition is None else self.resolve(definition)), at + 1
        if text == "callsite":
            callees, at = self._parse(tokens, at + 2)
            callers, at = self._parse(tokens, at + 1)
            return [callee + caller for callee in callees for caller in callers] or callees or callers, at + 1
        if text == "fused":
            chains: list[Frames] = []
            at += 2
            while at < len(tokens) and tokens[at].group().strip() != "]":
                part, at = self._parse(tokens, at)
                chains += part
                if at < len(tokens) and tokens[at].group().strip() == ",":
                    at += 1
            return chains, at + 1
        if kind == "string":
            return self._parse_string(tokens, at)
        return [], at + 1

    def _parse_string(self, tokens: list[re.Match[str]], at: int) -> tuple[list[Frames], int]:
        """Parse `"file":line:column`, a range of these, or `"name"(location)`."""
        text = tokens[at].group("string")[1:-1]
        following = [token.group().strip() for token in tokens[at + 1 : at + 5]]
        if following[::2] == [":", ":"] and all(map(str.isdecimal, following[1::2])) and len(following) == 4:
            found = frame(text, int(following[1]), int(following[3]))
            at += 5
            if at < len(tokens) and tokens[at].group().strip() == "to":
                while at < len(tokens) and tokens[at].group().strip() not in ("at", ",", ")", "]"):
                    at += 1
            return [(found,)], at
        if following[:1] == ["("]:
            chains, at = self._parse(tokens, at + 2)
            return chains, at + 1
        return [], at + 1


def _split_locations(line: str) -> tuple[str, list[str]]:
    """Remove every ` loc(...)` from a line. Return the rest, and the inside of each location."""
    if " loc(" not in line:
        return line, []
    inside: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found.group(1) is None:
            return found.group()
        inside.append(found.group(1))
        return ""

    return _STRING_OR_LOCATION.sub(take, line), inside


def line_without_locations(line: str) -> str:
    """Return a line of a module without its locations; the line of an alias becomes empty."""
    return "" if is_alias(line) else _split_locations(line)[0]


def is_alias(line: str) -> bool:
    """Return whether a line of a module defines the alias of a location."""
    return _ALIAS_LINE.match(line) is not None


def without_locations(raw: str) -> str:
    """Remove the locations from the text of a module."""
    kept = _ALIAS_LINES.sub("", f"\n{raw}")[1:]
    parts: list[str] = []
    at = 0
    while (quote := kept.find('"', at)) >= 0:  # Few lines of a long module have strings.
        start = kept.rfind("\n", at, quote) + 1 or at
        end = kept.find("\n", quote)
        if end < 0:
            end = len(kept)
        parts += [_LOCATION.sub("", kept[at:start]), _split_locations(kept[start:end])[0]]
        at = end
    return "".join([*parts, _LOCATION.sub("", kept[at:])])


def _own_locations(lines: list[tuple[str, list[str]]]) -> list[list[str]]:
    """Return the locations of each shown line.

    Every operation is printed with its location at its end, so all lines at one depth of regions since the
    last location belong to the operation that the next location closes.
    """
    own: list[list[str]] = [[] for _ in lines]
    unfinished: list[list[int]] = [[]]
    for number, (shown, inside) in enumerate(lines):
        stripped = shown.strip()
        if not stripped or stripped.startswith(("//", "#")):  # Comments and aliases of attributes.
            continue
        if stripped.startswith("^"):  # The label of a block: the locations belong to its arguments.
            own[number] = inside
            continue
        if stripped.startswith("}") and len(unfinished) > 1:
            unfinished.pop()
        unfinished[-1].append(number)
        if stripped.endswith("{"):
            unfinished.append([])
        elif inside:
            for part in unfinished[-1]:
                own[part].append(inside[-1])
            unfinished[-1] = []
    return own


def read_module(raw: str, table: LocationTable) -> str:
    """Return `raw` without its locations, and add the locations of each remaining line to `table`."""
    definitions: dict[str, str] = {}
    kept: list[tuple[str, list[str]]] = []
    for line in raw.splitlines():
        alias = _ALIAS_LINE.match(line)
        if alias:
            definitions[line[: line.index(" ")]] = alias.group(1)
        else:
            kept.append(_split_locations(line))
    aliases = _Aliases(definitions)
    for own in _own_locations(kept):
        table.add_line(chain for inside in own for chain in aliases.resolve(inside))
    return "".join(f"{shown}\n" for shown, _ in kept)


def read_stage(artifact: Artifact) -> StageText:
    """Read a stage from a module of the compiler."""
    raw = str(artifact.value)
    table = LocationTable()
    text = read_module(raw, table)
    raw_lines = tuple(index for index, line in enumerate(raw.splitlines()) if not is_alias(line))
    return StageText(text, raw, table, raw_lines)
