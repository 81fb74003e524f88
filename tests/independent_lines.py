"""A second reading of the line information of every stage, to check the product's against.

It is written for tests only, from the formats' own descriptions, and shares nothing with
`explorer.pipeline.locations`: a mistake would have to be made twice to go unseen. It is slow and strict:
what it does not understand is an error.

Everywhere a *stack* is a tuple of (file, line), the innermost frame first and then its callers. A line of a
stage has a list of stacks, for MLIR may fuse locations; elsewhere it is one. Frames without a line (0, or
`unknown`) are left out, so a stack may be empty. Line numbers are counted from 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

Frame = tuple[str, int]
Stack = tuple[Frame, ...]

# --- MLIR -------------------------------------------------------------------------------------


class _Location:
    """Reads one `loc(…)`, character by character."""

    def __init__(self, text: str, aliases: dict[str, str]) -> None:
        self.text, self.at, self.aliases = text, 0, aliases

    def stacks(self) -> list[Stack]:
        self._skip()
        if self._take("#"):
            name = "#" + self._word()
            return _Location(self.aliases[name], self.aliases).stacks()
        if self._take("unknown"):
            return [()]
        if self._take("callsite("):
            callee = self.stacks()
            self._expect("at")
            caller = self.stacks()
            self._expect(")")
            return [inner + outer for inner in callee for outer in caller]
        if self._take("fused"):
            if self._take("<"):
                self._skip_metadata()
            self._expect("[")
            stacks = self.stacks()
            while self._take(","):
                stacks += self.stacks()
            self._expect("]")
            return stacks
        name = self._string()
        if self._take("("):
            stacks = self.stacks()
            self._expect(")")
            return stacks
        if self._take(":"):
            line = self._number()
            self._expect(":")
            self._number()
            if self._take("to"):
                if self.text[self.at :].lstrip()[0] != ":":
                    self._number()
                self._expect(":")
                self._number()
            return [((name, line),) if line else ()]
        return [()]

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _take(self, token: str) -> bool:
        self._skip()
        found = self.text.startswith(token, self.at)
        self.at += len(token) * found
        return found

    def _expect(self, token: str) -> None:
        assert self._take(token), f"{token!r} expected: {self.text[self.at :][:60]!r}"

    def _word(self) -> str:
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] in "_."):
            self.at += 1
        return self.text[start : self.at]

    def _number(self) -> int:
        self._skip()
        return int(self._word())

    def _string(self) -> str:
        self._expect('"')
        start = self.at
        while self.text[self.at] != '"':
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at += 1
        raw = self.text[start : self.at - 1].encode()
        return re.sub(rb"\\([0-9A-F]{2})", lambda match: bytes.fromhex(match[1].decode()), raw).decode()

    def _skip_metadata(self) -> None:
        depth = 1
        while depth:
            depth += {"<": 1, ">": -1}.get(self.text[self.at], 0)
            self.at += 1


def mlir_aliases(text: str) -> dict[str, str]:
    """The body of each `#locN = loc(body)`."""
    heads = (line.partition(" = ") for line in text.split("\n") if line.startswith("#loc"))
    return {name: body.strip()[len("loc(") : -1] for name, _, body in heads}


def mlir_lines(text: str) -> dict[int, list[Stack]]:
    """Return the stacks of each line that ends with a location: an operation, or the end of its region."""
    aliases = mlir_aliases(text)
    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#") or not line.endswith(")"):
            continue
        start = _last_location(line)
        if start is not None:
            found[number] = _Location(line[start + len(" loc(") : -1], aliases).stacks()
    return found


def _last_location(line: str) -> int | None:
    """Return the index of the ` loc(` whose closing parenthesis ends the line."""
    depth, position, quoted = 0, len(line), False
    while position:
        position -= 1
        character = line[position]
        if character == '"' and line[position - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += {")": 1, "(": -1}.get(character, 0)
            if depth == 0:
                is_location = line.startswith(" loc", position - 4)
                return position - 4 if is_location else None
    return None


# --- LLVM IR ----------------------------------------------------------------------------------


def llvm_lines(text: str) -> dict[int, Stack]:
    """The stack of each instruction that has a `!dbg`, by `inlinedAt` from callee to caller."""
    nodes = dict(re.findall(r"^(!\d+) = (?:distinct )?(!\w+\(.*\))$", text, re.MULTILINE))

    def field(node: str, name: str) -> str:
        match = re.search(rf'[(, ]{name}: ("(?:[^"\\]|\\.)*"|[^,)]+)', nodes[node])
        return match[1] if match else ""

    def file_of(scope: str) -> str:
        file = field(scope, "file")
        folder, name = (json.loads(field(file, part)) for part in ("directory", "filename"))
        return name if name.startswith("/") or not folder else f"{folder}/{name}"

    def walk(location: str) -> Iterator[Frame]:
        while location:
            line = int(field(location, "line") or 0)
            if line:
                yield file_of(field(location, "scope")), line
            location = field(location, "inlinedAt")

    found = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = re.search(r", !dbg (!\d+)(?:, !|$)", line)
        if match and line.startswith("  "):
            found[number] = tuple(walk(match[1]))
    return found


# --- PTX --------------------------------------------------------------------------------------


def ptx_lines(text: str) -> dict[int, Stack]:
    """The stack of each instruction after a `.loc`.

    `inlined_at F L C` names the place of an earlier `.loc`, which may itself be inlined. A `.loc` inside of
    inline assembly counts the lines of its text and not of the source: it is ignored.
    """
    files = {
        int(number): path
        for number, path in re.findall(r'^\s*\.file\s+(\d+)\s+"([^"]*)"', text, re.MULTILINE)
    }
    places: dict[tuple[int, int, int], Stack] = {}
    current: Stack | None = None
    found = {}
    in_inline_assembly = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("inline asm"):
            in_inline_assembly = "begin" in line
        words = line.partition("//")[0].replace(",", " ").split()
        if not words:
            continue
        if words[0] in (".visible", ".func", ".entry", ".section"):
            current = None
        elif words[0] == ".loc" and in_inline_assembly:
            continue
        elif words[0] == ".loc":
            place = (int(words[1]), int(words[2]), int(words[3]))
            callers: Stack = ()
            if "inlined_at" in words:
                at = words.index("inlined_at")
                caller = (int(words[at + 1]), int(words[at + 2]), int(words[at + 3]))
                callers = places.get(caller, ((files[caller[0]], caller[1]),))
            current = (((files[place[0]], place[1]),) if place[1] else ()) + callers
            places[place] = current
        elif current is not None and words[0][0] not in ".$(){}" and words[-1].endswith(";"):
            found[number] = current
    return found


# --- SASS -------------------------------------------------------------------------------------


def sass_lines(text: str) -> dict[int, Stack]:
    """The stack of each instruction of `nvdisasm -gi`, by its offset; one function only.

    A run of `//## File` comments is one stack. Where one says what it is inlined at, the next must say the
    same, so the reading checks itself.
    """
    comment = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
    found: dict[int, Stack] = {}
    frames: list[Frame] = []
    caller: Frame | None = None
    in_comments = False
    for line in text.split("\n"):
        match = comment.search(line)
        instruction = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+\S", line)
        if match:
            frame = (match[1], int(match[2]))
            if not in_comments:
                frames, caller = [], None
            assert caller in (None, frame), f"inlined at {caller}, but then {frame}"
            frames.append(frame)
            caller = (match[3], int(match[4])) if match[3] else None
            in_comments = True
            continue
        in_comments = False
        if instruction:
            offset = int(instruction[1], 16)
            assert offset not in found, f"two instructions at {offset:#x}"
            if frames:
                found[offset] = tuple(frame for frame in frames if frame[1])
        elif line.lstrip().startswith(".section"):
            frames = []
    return found
