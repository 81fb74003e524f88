"""The output of the compiler's C++ code to the standard error descriptor: remarks, errors, assertions.

If the descriptor is a regular file that can be read, new output is read from there and nothing is redirected.
This is the case in the sandbox, where the warden reads the file after a crash. Otherwise the descriptor is
redirected to a temporary file while a `ToolOutput` is active, and the output is copied at the end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import cast

from explorer.model import Diagnostic, Severity
from explorer.pipeline.user_source import number_of

_STANDARD_ERROR = 2
_MAXIMUM_BYTES = 1 << 20
_MAXIMUM_DUMP_BYTES = 1 << 26
_MESSAGE = re.compile(
    r"^(?P<path>.+?):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning|remark|note): "
)
#: LLVM's code generator reports errors in inline assembly and continues. MLIR survives some assertions.
_ERROR_WITHOUT_PLACE = re.compile(r"^(?:error|python[\d.]*: \S+:\d+: .*?(?=: Assertion `)): (.+)$")
#: MLIR appends the operation to a message, and LLVM the source line with a caret.
_CONTINUATION = re.compile(r"see current operation|^\s*\^\s*$")
#: The pass manager repeats that a pass has failed.
_REPEATED_FAILURE = re.compile(
    r"Failures have been detected while processing an MLIR|Pipeline failed while executing"
)
#: The last words of LLVM and MLIR before they abort: a fatal error, a failed assertion, or code that must
#: never be reached, whose reason is in the line before.
_LAST_WORDS = re.compile(
    r"^(?:LLVM ERROR: .+|.*: Assertion `.+' failed\.|(?:.+\n)?UNREACHABLE executed.*)$", re.MULTILINE
)


def last_words(text: str) -> str:
    """Return why the compiler has aborted, from its output; "" if it does not say so.

    The output goes on with the stack, which may be long.
    """
    found = list(_LAST_WORDS.finditer(text))
    return found[-1][0] if found else ""


class ToolOutput:
    """Reads the output to the standard error descriptor since the last read."""

    def __init__(self) -> None:
        self._reader = -1
        self._offset = 0
        self._held = ""

    @contextlib.contextmanager
    def active(self) -> Iterator[ToolOutput]:
        """Start with the output from now on."""
        sys.stderr.flush()
        status = os.fstat(_STANDARD_ERROR)
        can_read = fcntl.fcntl(_STANDARD_ERROR, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDWR
        if stat.S_ISREG(status.st_mode) and can_read:
            self._reader, self._offset = _STANDARD_ERROR, status.st_size
            yield self
            return
        original = os.dup(_STANDARD_ERROR)
        with tempfile.TemporaryFile() as file:
            self._reader = file.fileno()
            os.dup2(self._reader, _STANDARD_ERROR)
            try:
                yield self
            finally:
                sys.stderr.flush()
                os.dup2(original, _STANDARD_ERROR)
                os.write(original, os.pread(self._reader, _MAXIMUM_BYTES, 0))
                os.close(original)

    def new_text(self) -> str:
        """Return the output since the last call (a megabyte at most)."""
        text, self._held = self._held + self._read(_MAXIMUM_BYTES), ""
        return text

    @contextlib.contextmanager
    def capture(self) -> Iterator[Callable[[], str]]:
        """Keep output in this context out of `new_text`. The yielded function returns it.

        The text is also removed from the file, unless an error occurs: it was requested, and is not a
        message.
        """
        self._held += self._read(_MAXIMUM_BYTES)
        begin = os.fstat(self._reader).st_size
        yield lambda: self._read(_MAXIMUM_DUMP_BYTES)
        os.ftruncate(self._reader, begin)
        os.lseek(self._reader, begin, os.SEEK_SET)
        self._offset = min(self._offset, begin)

    def _read(self, most_bytes: int) -> str:
        data = os.pread(self._reader, most_bytes, self._offset)
        self._offset += len(data)
        return data.decode(errors="replace")


def read_messages(text: str, stage: str) -> tuple[list[Diagnostic], str]:
    """Split a tool's output into messages with a position in the user's files, and the rest.

    A message with a position in another file keeps its text, with the position in front, and has no line.
    The messages of the pass manager that a pass has failed are left out.
    """
    diagnostics: list[Diagnostic] = []
    rest: list[str] = []
    skipping = False
    for line in text.splitlines():
        message = _MESSAGE.match(line)
        if message:
            path, row, column = message["path"], int(message["line"]), int(message["column"])
            body = line[message.end() :].strip()
            skipping = bool(_CONTINUATION.search(body))
            if skipping or _REPEATED_FAILURE.match(body):
                continue
            own = number_of(path, row)
            severity = cast(Severity, message["severity"])
            text_shown = body if own else f"{path.rsplit('/', 1)[-1]}:{row}: {body}"
            place = (own, column) if own else (0, 0)
            diagnostics.append(Diagnostic(severity, text_shown, stage, *place))
        elif complaint := _ERROR_WITHOUT_PLACE.match(line):
            diagnostics.append(Diagnostic("error", complaint[1], stage))
        elif not skipping and line.strip() and not _CONTINUATION.search(line):
            rest.append(line)
    return diagnostics, "\n".join(rest)
