"""Read MLIR text that was printed with locations: the text without them, and where each line comes from.

An operation's location stands at its end; the end of one with regions is the line that closes the last
of them, so the line that opens it is given the same location. Aliases (`#loc7 = loc(...)`) nest: named,
callsite and fused locations are resolved to frames.

Source: the printers of MLIR's built-in locations, as in Triton 3.6 and 3.9.
"""

from __future__ import annotations

import re

from explorer.pipeline.locations import Frames, LocationTable, frame
from explorer.pipeline.stages.stage import Artifact, StageText

_ALIAS_LINE = re.compile(r"^#loc\d* = loc\((.*)\)$")
_ALIAS_LINES = re.compile(r"^#loc\d* = loc\(.*\)\n", re.MULTILINE)
_STRING = r'"(?:[^"\\]|\\.)*"'
_FLAT = rf'(?:[^()"]|{_STRING})'
#: A string, which may hold anything, or a location, whose inside nests three deep: "name"(callsite(…)).
_STRING_OR_LOCATION = re.compile(
    rf"{_STRING}| loc\(((?:[^()\"]|{_STRING}|\((?:[^()\"]|{_STRING}|\({_FLAT}*\))*\))*)\)"
)
_TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<alias>#loc\d*)|(?P<word>callsite|fused|unknown|at|to)'
    r"|(?P<number>\d+)|(?P<mark>[()\[\],:<>]))"
)
_FUSED_METADATA = re.compile(r"fused<(?:[^<>\"]|\"(?:[^\"\\]|\\.)*\"|<[^<>]*>)*>")


class _Aliases:
    """The location aliases of one module, each resolved once."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self._definitions = definitions
        self._resolved: dict[str, list[Frames]] = {}

    def resolve(self, text: str) -> list[Frames]:
        """Return the frame chains of the inside of a `loc(...)`."""
        known = self._resolved.get(text)
        if known is None:
            self._resolved[text] = []  # an alias that names itself has no location
            tokens = list(_TOKEN.finditer(_FUSED_METADATA.sub("fused", text)))
            known, _ = self._parse(tokens, 0)
            self._resolved[text] = known
        return known

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
        if len(following) == 4 and following[0] == ":" and following[2] == ":":
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
    """Take every ` loc(...)` out of a line; return the rest, and what stood inside of each."""
    if " loc(" not in line:
        return line, []
    inside: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found.group(1) is None:
            return found.group()
        inside.append(found.group(1))
        return ""

    return _STRING_OR_LOCATION.sub(take, line), inside


def without_locations(raw: str) -> str:
    """Return the text of a module that was printed with locations, without them."""
    kept = _ALIAS_LINES.sub("", raw)
    return _STRING_OR_LOCATION.sub(lambda found: found.group() if found.group(1) is None else "", kept)


def _own_locations(lines: list[tuple[str, list[str]]]) -> list[list[str]]:
    """For each shown line return its locations.

    Every operation is printed with its location at its very end, so all lines at one depth of regions
    since the last location belong to the operation that the next one closes.
    """
    own: list[list[str]] = [[] for _ in lines]
    unfinished: list[list[int]] = [[]]
    for number, (shown, inside) in enumerate(lines):
        stripped = shown.strip()
        if not stripped or stripped.startswith(("//", "#")):  # comments and aliases of attributes
            continue
        if stripped.startswith("^"):  # a block's label: the locations are its arguments'
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
    """Return `raw` without its locations, and add each remaining line's to `table`."""
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
    return StageText(read_module(raw, table), raw, table)
