"""LLVM's passes over a kernel, one by one. This is a separate job, because it is slow and prints a lot.

In: a `Specialization`, a `Target`. Out: one `Pass` after another while LLVM works, each with the whole module
if the pass changed it. Their times are not reported, because most of the time is spent on printing.

On request, LLVM prints the module after each pass. The output goes to a file in place of standard error, and
a thread reads it at the same time.

Source: optimize_module in python/src/llvm.cc of Triton 3.6 and 3.9: LLVM_IR_ENABLE_DUMP sets LLVM's flag
`print-after-all`, DISABLE_LLVM_OPT sets any other flags.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

from explorer.model import Event, Pass
from explorer.pipeline.compile_to_llvm import TO_LLVM, CompilationToLlvm
from explorer.pipeline.errors import UserError
from explorer.pipeline.lowering import Make

_STANDARD_ERROR = 2
_VARIABLES = {"LLVM_IR_ENABLE_DUMP": "1", "DISABLE_LLVM_OPT": "print-module-scope"}
_HEAD = re.compile(rb"^(?:; )?\*\*\* IR Dump After (.+?)(?: on (.+?))? \*\*\*(?: \(.*\))?\n", re.MULTILINE)
#: Messages of the pass manager between the passes.
_CHATTER = re.compile(r"^(?:Running|Skipping|Invalidating|Clearing) .*\n", re.MULTILINE)
_LOOK_SECONDS = 0.2


class LlvmPasses(CompilationToLlvm):
    """Lowers a kernel to LLVM IR and emits LLVM's passes only."""

    def run(self) -> None:
        """Lower the kernel, and emit each pass.

        Raises:
            UserError: the kernel cannot be compiled.
        """
        with self._output.active():
            try:
                self._lower()
            except Exception as error:  # The compiler may raise any exception.
                raise UserError(self._diagnose(error)) from error

    def _make(self, make: Make, module: Any) -> Any:
        if self._stage != TO_LLVM:
            return super()._make(make, module)
        with _printed_passes(self._emit_answer):
            return super()._make(make, module)


@contextlib.contextmanager
def _printed_passes(emit: Callable[[Event], None]) -> Iterator[None]:
    """Make LLVM print after each pass, and emit the passes while it does."""
    sys.stderr.flush()
    original = os.dup(_STANDARD_ERROR)
    over = threading.Event()
    with tempfile.TemporaryFile() as file:
        reader = threading.Thread(target=_follow, args=(file.fileno(), over, _PassReader(emit)))
        os.environ.update(_VARIABLES)
        os.dup2(file.fileno(), _STANDARD_ERROR)
        reader.start()
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(original, _STANDARD_ERROR)
            os.close(original)
            for name in _VARIABLES:
                del os.environ[name]
            over.set()
            reader.join()


def _follow(descriptor: int, over: threading.Event, reader: _PassReader) -> None:
    """Yield the data that is written to a file until the writer has finished."""
    offset = 0
    while True:
        was_over = over.wait(_LOOK_SECONDS)
        while data := os.pread(descriptor, 1 << 22, offset):
            offset += len(data)
            reader.feed(data)
        if was_over:
            reader.end()
            return


class _PassReader:
    """Splits LLVM's output into passes."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._buffer = b""
        self._name = ""
        self._place = ""
        self._text = ""
        self._count = 0

    def feed(self, data: bytes) -> None:
        """Process more of the output. Emit the passes whose modules are complete."""
        self._buffer += data
        start = 0
        for head in _HEAD.finditer(self._buffer):
            self._tell(self._buffer[start : head.start()])
            self._name, self._place = ((part or b"").decode(errors="replace") for part in head.groups())
            start = head.end()
        self._buffer = self._buffer[start:]

    def end(self) -> None:
        """Emit the last pass."""
        self._tell(self._buffer)

    def _tell(self, printed: bytes) -> None:
        if not self._name:
            return
        text = _CHATTER.sub("", printed.decode(errors="replace")).strip("\n") + "\n"
        changed = text != self._text
        self._text = text
        options = (f"on {self._place}",) if self._place else ()
        snapshot = text if changed else None
        self._emit(Pass(self._count, TO_LLVM, self._name, self._name, options, 0.0, snapshot))
        self._count += 1
