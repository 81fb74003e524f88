"""LLVM's own passes over a kernel, one by one: a job of its own, for it takes long and prints much.

In: a `Specialization`, a `Target`. Out: one `Pass` after another while LLVM works, each with the whole module
after it where that changed. Their times are not told: most of the time goes into printing.

LLVM prints the module after each pass when it is asked to; it goes to a file in the place of the standard
error, from where a thread reads it meanwhile.

Source: optimize_module in python/src/llvm.cc of Triton 3.6 and 3.9: LLVM_IR_ENABLE_DUMP sets LLVM's flag
`print-after-all`, DISABLE_LLVM_OPT sets any others.
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
from explorer.pipeline.compile import Compilation
from explorer.pipeline.errors import UserError
from explorer.pipeline.specialize import Specialization
from explorer.pipeline.targets import Target

_STANDARD_ERROR = 2
_STEP = "llir"
_VARIABLES = {"LLVM_IR_ENABLE_DUMP": "1", "DISABLE_LLVM_OPT": "print-module-scope"}
_HEAD = re.compile(rb"^(?:; )?\*\*\* IR Dump After (.+?)(?: on (.+?))? \*\*\*(?: \(.*\))?\n", re.MULTILINE)
#: What the pass manager says of itself in between.
_CHATTER = re.compile(r"^(?:Running|Skipping|Invalidating|Clearing) .*\n", re.MULTILINE)
_LOOK_SECONDS = 0.2


class LlvmPasses(Compilation):
    """Lowers a kernel as far as LLVM IR, and tells of nothing but LLVM's passes."""

    def __init__(
        self, specialization: Specialization, target: Target, source: str, emit: Callable[[Event], None]
    ) -> None:
        super().__init__(specialization, target, source, lambda _event: None)
        self._emit_pass = emit

    def run(self) -> None:
        """Lower, telling of each pass.

        Raises:
            UserError: the kernel cannot be compiled.
        """
        with self._output.active():
            try:
                self._lower()
            except Exception as error:
                raise UserError(self._diagnose(error)) from error

    def _steps(self, backend: Any, options: Any, language: Any) -> dict[str, Callable[..., Any]]:
        steps = super()._steps(backend, options, language)
        names = list(steps)
        return {name: steps[name] for name in names[: names.index(_STEP) + 1]}

    def _make(self, make: Callable[[Any, dict[str, Any]], Any], module: Any) -> Any:
        if self._stage != _STEP:
            return super()._make(make, module)
        with _printed_passes(self._emit_pass):
            return super()._make(make, module)


@contextlib.contextmanager
def _printed_passes(emit: Callable[[Event], None]) -> Iterator[None]:
    """Have LLVM print after each pass, and tell of the passes while it does."""
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
    """Hand on what is written to a file until it is over."""
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
    """Cuts LLVM's output into passes."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self._emit = emit
        self._buffer = b""
        self._name = ""
        self._place = ""
        self._text = ""
        self._count = 0

    def feed(self, data: bytes) -> None:
        """Take in more of the output; tell of the passes whose modules are whole."""
        self._buffer += data
        start = 0
        for head in _HEAD.finditer(self._buffer):
            self._tell(self._buffer[start : head.start()])
            self._name, self._place = ((part or b"").decode(errors="replace") for part in head.groups())
            start = head.end()
        self._buffer = self._buffer[start:]

    def end(self) -> None:
        """Tell of the last pass."""
        self._tell(self._buffer)

    def _tell(self, printed: bytes) -> None:
        if not self._name:
            return
        text = _CHATTER.sub("", printed.decode(errors="replace")).strip("\n") + "\n"
        changed = text != self._text
        self._text = text
        options = (f"on {self._place}",) if self._place else ()
        self._emit(Pass(self._count, _STEP, self._name, self._name, options, 0.0, text if changed else None))
        self._count += 1
