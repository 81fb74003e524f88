"""The source line at which a process is, for reports about a crash or a limit.

The worker writes to a pipe: the line of the kernel that it compiles, the steps of the job, and, from a signal
handler that does not need the interpreter, its stack when it ends. The warden reads the pipe if the worker
gave no verdict. Jail side.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import stat
from dataclasses import dataclass
from pathlib import Path

from explorer.sandbox import linux

#: The name under which the pipeline compiles the source.
SOURCE_FILE = "kernel.py"

_MOST_BYTES = 1 << 16
_MOST_TEXT_BYTES = 1 << 22
TEXT_FILE = ".compiled-text"
_ANSWER_SECONDS = 0.2
_STACK = re.compile(rf'^  File "{re.escape(SOURCE_FILE)}", line (\d{{1,7}}) in ', re.MULTILINE)
_KERNEL = re.compile(r"^kernel (\d{1,7})$", re.MULTILINE)
_WORK = re.compile(r"^work ([\w .-]{1,200})$", re.MULTILINE)
_STEP = re.compile(r"^step (\d{1,9}) ([\w .-]{1,100})$", re.MULTILINE)


@dataclass(frozen=True)
class SourcePosition:
    """A source line, 0 if it is unknown, and whether Python code of the source was being executed.

    `steps` are the steps of the job with the times at which they began, in milliseconds. `work` is the step
    or the pass of the compiler that began last, and `named` the lines that its last words name.
    """

    line: int = 0
    in_python: bool = False
    steps: tuple[tuple[str, int], ...] = ()
    work: str = ""
    named: tuple[int, ...] = ()


def report_to(descriptor: int) -> None:
    """Install handlers that write the stack on a crash, at the processor limit or on request."""
    os.set_blocking(descriptor, False)
    faulthandler.enable(descriptor, all_threads=False)
    faulthandler.register(signal.SIGXCPU, descriptor, all_threads=False, chain=True)
    faulthandler.register(signal.SIGUSR1, descriptor, all_threads=False)


def report_kernel(descriptor: int, line: int) -> None:
    """Write the first line of the kernel that is compiled next."""
    with contextlib.suppress(OSError):  # User code may have closed the pipe or filled it.
        os.write(descriptor, b"kernel %d\n" % line)


def report_step(descriptor: int, milliseconds: float, what: str) -> None:
    """Write the next step of the job, and the time at which it begins."""
    with contextlib.suppress(OSError):
        os.write(descriptor, f"step {int(milliseconds)} {what}\n".encode())


def report_work(descriptor: int, what: str) -> None:
    """Write the step or the pass of the compiler that begins."""
    with contextlib.suppress(OSError):
        os.write(descriptor, f"work {what}\n".encode())


def keep_text(folder: str, stage: str, text: str) -> None:
    """Keep the text that the compiler works on in a file of the job, unless it is too long."""
    text = text if len(text) < _MOST_TEXT_BYTES // 2 else ""
    with contextlib.suppress(OSError):
        Path(folder, TEXT_FILE).write_text(f"{stage}\n{text}", encoding="utf-8", errors="replace")


def forget_text(folder: str) -> None:
    """Remove the text that an earlier job of the same script has kept."""
    with contextlib.suppress(OSError):
        Path(folder, TEXT_FILE).unlink()


def kept_text(folder: str) -> tuple[str, str]:
    """Return the name of a stage and the kept text. Both are empty if there is none, or if it is too long."""
    with contextlib.suppress(OSError):
        # User code may have put anything there.
        file = os.open(Path(folder, TEXT_FILE), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            if stat.S_ISREG(status.st_mode) and status.st_size <= _MOST_TEXT_BYTES:
                stage, _, text = opened.read(_MOST_TEXT_BYTES).decode("utf-8", "replace").partition("\n")
                return stage, text
    return "", ""


def request_stack(process: int, descriptor: int) -> str:
    """Make a running process write its stack. Return everything that the process has written."""
    text = read_report(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGUSR1)
        while len(text) < _MOST_BYTES and linux.wait_for_input(descriptor, seconds=_ANSWER_SECONDS):
            part = read_report(descriptor)
            if not part:
                break
            text += part
    return text


def read_report(descriptor: int) -> str:
    """Return the written report, without waiting."""
    os.set_blocking(descriptor, False)
    with contextlib.suppress(BlockingIOError):
        return os.read(descriptor, _MOST_BYTES).decode("utf-8", "replace")
    return ""


def find_position(report: str) -> SourcePosition:
    """Return the innermost source line on the stack, or else the line of the kernel."""
    steps = tuple((what, int(milliseconds)) for milliseconds, what in _STEP.findall(report))
    if on_stack := _STACK.search(report):
        return SourcePosition(int(on_stack[1]), in_python=True, steps=steps)
    kernels, work = _KERNEL.findall(report), _WORK.findall(report)
    line = int(kernels[-1]) if kernels else 0
    return SourcePosition(line, steps=steps, work=work[-1] if work else "")
