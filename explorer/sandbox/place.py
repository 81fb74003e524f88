"""Where in the source a process stands: what it can still say when it crashes or is stopped.

The worker writes to a pipe: the line of the kernel once that is known, and, from a signal handler that
needs no interpreter, the stack at its end. The warden reads it when there was no verdict. Jail side.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import select
import signal
from dataclasses import dataclass

#: The name under which the pipeline compiles the source.
SOURCE_FILE = "kernel.py"

_MOST_BYTES = 1 << 16
_ANSWER_SECONDS = 0.2
_STACK = re.compile(rf'^  File "{re.escape(SOURCE_FILE)}", line (\d{{1,7}}) in ', re.MULTILINE)
_KERNEL = re.compile(r"^kernel (\d{1,7})$", re.MULTILINE)


@dataclass(frozen=True)
class Place:
    """A line of the source, 0 where none is known, and whether its own Python code was running."""

    line: int = 0
    in_python: bool = False


def report_to(descriptor: int) -> None:
    """Have crashes, the processor limit and the warden's question answered with the stack."""
    os.set_blocking(descriptor, False)
    faulthandler.enable(descriptor, all_threads=False)
    faulthandler.register(signal.SIGXCPU, descriptor, all_threads=False, chain=True)
    faulthandler.register(signal.SIGUSR1, descriptor, all_threads=False)


def report_kernel(descriptor: int, line: int) -> None:
    """Say on which line the kernel starts that is now being compiled."""
    with contextlib.suppress(OSError):  # user code may have closed or filled it
        os.write(descriptor, b"kernel %d\n" % line)


def ask(process: int, descriptor: int) -> str:
    """Have a process that still runs write its stack; return all that it has written so far."""
    text = read(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGUSR1)
        while len(text) < _MOST_BYTES and select.select([descriptor], [], [], _ANSWER_SECONDS)[0]:
            part = read(descriptor)
            if not part:
                break
            text += part
    return text


def read(descriptor: int) -> str:
    """Return what was written, without waiting."""
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError):
        return os.read(descriptor, _MOST_BYTES).decode("utf-8", "replace")
    return ""


def find(report: str) -> Place:
    """The innermost line of the source on the stack; otherwise the line of the kernel."""
    if on_stack := _STACK.search(report):
        return Place(int(on_stack[1]), in_python=True)
    kernels = _KERNEL.findall(report)
    return Place(int(kernels[-1])) if kernels else Place()
