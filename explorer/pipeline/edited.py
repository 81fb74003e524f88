"""Compiles from the edited text of a stage: restores the parts that the shown text leaves out, and parses the
text.

The page shows a stage without locations and debug information. They are restored in an edited text: its lines
are compared with the lines of the original, and each equal line is replaced by the line that the compiler
printed. An unchanged text therefore gives the same binary, bit for bit. A text that has locations is compiled
without changes.

Text cannot express the order in which MLIR and LLVM store the uses of a value. Operations may therefore have
a different order in later texts.

Source: `triton.compiler.compiler.parse`, 3.6 and 3.9.
"""

from __future__ import annotations

import contextlib
import difflib
import faulthandler
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.model import Diagnostic
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.lowering import Make
from explorer.pipeline.stages import STAGES, Artifact, StageKind, StageText
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.tool_output import ToolOutput

_MOST_OUTPUT_BYTES = 1 << 16
_LLVM_PLACE = re.compile(r"failed to parse IR: (?P<message>.*?)\s*lineno: (?P<line>\d+)", re.DOTALL)


@dataclass(frozen=True)
class Restored:
    """An edited text with the parts that the shown text leaves out.

    `lines[i]` is the line of the edited text that line i of `text` is made from, counted from 1; 0: none.
    `new` are the lines of the edited text that are not in the original. `raw_lines` has the line of the
    original, from 0 on, for each line of `text`; -1: none.
    """

    text: str
    lines: tuple[int, ...]
    new: frozenset[int] = frozenset()
    raw_lines: tuple[int, ...] = ()

    def line(self, number: int) -> int:
        """Return the line of the edited text for a line of `text`, or for the nearest line before it."""
        return next((line for line in reversed(self.lines[:number]) if line), 0)


def editable_stage(name: str) -> StageKind:
    """Return the stage of this name.

    Raises:
        UserError: the stage does not exist or cannot be compiled from its text.
    """
    kind = next((kind for kind in STAGES if kind.name == name), None)
    if kind is None or kind.kernel is None:
        names = ", ".join(kind.name for kind in STAGES if kind.kernel)
        raise user_error(
            f"The stage {name!r} cannot be compiled from its text.", hint=f"These stages can: {names}."
        )
    return kind


def restore(kind: StageKind, original: Any, edited: str) -> Restored:
    """Return an edited text with the locations of the original's equal lines.

    Raises:
        UserError: the text has no kernel.
    """
    check_kernel(kind, edited)
    edited = edited.replace("\r\n", "\n")
    wanted = edited.splitlines(keepends=True)
    if kind.read(Artifact(edited)).table.locations:
        return Restored(edited, tuple(range(1, len(wanted) + 1)))
    raw = str(original)
    if kind.name == "ptx":
        raw = correct_line_information(raw)
    shown = kind.read(Artifact(raw))
    new: set[int] = set()
    rows = _restored_rows(shown, raw.splitlines(keepends=True), wanted, new)
    texts, lines, raw_lines = zip(*rows, strict=True)
    return Restored("".join(texts), lines, frozenset(new), raw_lines)


def check_kernel(kind: StageKind, text: str) -> str:
    """Return the name of the kernel in the text of a stage.

    Raises:
        UserError: there is no kernel. The compiler would end without a message.
    """
    found = kind.kernel.search(text) if kind.kernel else None
    if found is None:
        raise UserError(Diagnostic("error", f"The text of the {kind.title} has no kernel.", kind.name))
    return found[1]


def _restored_rows(
    shown: StageText, raw: list[str], wanted: list[str], new: set[int]
) -> Iterator[tuple[str, int, int]]:
    """Yield each line of the restored text, the line of the edited text it is made from, and its raw line.

    Add the lines that are not in the original to `new`.
    """
    visible = set(shown.raw_lines)
    done = 0

    def hidden(end: int) -> Iterator[tuple[str, int, int]]:
        return ((raw[index], 0, index) for index in range(done, end) if index not in visible)

    before = shown.text.splitlines(keepends=True)
    for first, last, new_first, new_last in _blocks(before, wanted):
        end = shown.raw_lines[last - 1] + 1 if last > first else done
        if before[first:last] == wanted[new_first:new_last]:
            of_raw = {shown.raw_lines[first + step]: new_first + step + 1 for step in range(last - first)}
            yield from ((raw[index], of_raw.get(index, 0), index) for index in range(done, end))
        else:
            yield from hidden(end)
            new.update(range(new_first + 1, new_last + 1))
            yield from ((_ended(wanted[index]), index + 1, -1) for index in range(new_first, new_last))
        done = end
    yield from ((raw[index], 0, index) for index in range(done, len(raw)))


def _blocks(before: list[str], after: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield ranges of lines of both texts that are equal or that replace each other, in order."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    if start:
        yield 0, start, 0, start
    matcher = difflib.SequenceMatcher(
        None, before[start : len(before) - end], after[start : len(after) - end]
    )
    for _, first, last, new_first, new_last in matcher.get_opcodes():
        yield first + start, last + start, new_first + start, new_last + start
    if end:
        yield len(before) - end, len(before), len(after) - end, len(after)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n"


def parse_module(text: str, context: Any, path: Path, output: ToolOutput) -> Any:
    """Parse an MLIR module. `path` is the file to write it to: the location of operations without a location.

    Raises:
        ParseError: it is not a valid module.
    """
    from triton._C.libtriton import ir

    path.write_text(text, encoding="utf-8")
    with output.capture() as read:
        try:
            module = ir.parse_mlir_module(str(path), context)
        except RuntimeError as error:
            raise ParseError.of_mlir(read(), str(path), str(error)) from error
    module.context = context
    return module


class ParseError(Exception):
    """A text is not valid: the message of its parser, the line (0: unknown) and the column."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    @classmethod
    def of_mlir(cls, printed: str, path: str, otherwise: str) -> ParseError:
        """Return the first error that MLIR's parser or verifier printed."""
        place = re.compile(rf'^(?:loc\()?"?{re.escape(path)}"?:(\d+):(\d+)\)?: error: (.+)$', re.MULTILINE)
        found = place.search(printed)
        if found is None:
            complaint = re.search(r"error: (.+)$", printed, re.MULTILINE)
            return cls(complaint.group(1) if complaint else otherwise)
        return cls(found.group(3), int(found.group(1)), int(found.group(2)))

    def diagnostic(self, stage: str, restored: Restored) -> UserError:
        """Return the error at its line of the edited text."""
        line = restored.line(self.line)
        return UserError(
            Diagnostic("error", str(self), stage, column=self.column if line else 0, stage_line=line)
        )


def make_in_copy(make: Make, text: str, metadata: dict[str, Any]) -> Any:
    """Run a step of LLVM in a copy of this process: a text with an error ends the process.

    Raises:
        ParseError: the copy ended, or the text is not valid.
    """
    from triton._C.libtriton import llvm

    llvm.init_targets()  # an earlier step does it, which is skipped for a text of LLVM IR
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as printed:
        process = os.fork()
        if process == 0:
            # A copy without a result has failed. Its output has the reason.
            with contextlib.suppress(BaseException):
                faulthandler.disable()
                os.dup2(printed.fileno(), 2)
                noted = dict(metadata)
                made = make(text, noted)
                new = {name: noted[name] for name in noted if name not in metadata}
                is_binary = isinstance(made, bytes)
                result.write(
                    json.dumps([made.decode("latin-1") if is_binary else made, is_binary, new]).encode()
                )
                result.flush()
            os._exit(0)
        _, status = os.waitpid(process, 0)
        result.seek(0)
        if data := result.read():
            made, is_binary, new = json.loads(data)
            metadata.update(new)
            return made.encode("latin-1") if is_binary else made
        if not os.WIFSIGNALED(status):  # an exception, which occurs here again
            return make(text, metadata)
        said = os.pread(printed.fileno(), _MOST_OUTPUT_BYTES, 0).decode(errors="replace")
    found = _LLVM_PLACE.search(said)
    if found:
        raise ParseError(found["message"].strip(), int(found["line"]))
    lines = [line for line in said.splitlines() if line.strip()]
    raise ParseError(lines[0] if lines else "LLVM ended without a message.")
