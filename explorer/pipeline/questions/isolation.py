"""Do things one after another in a forked copy, so that one that aborts takes only itself down.

The compiler's bindings check some of what they are given by C++ assertions, which end the process.
"""

from __future__ import annotations

import json
import os
import re
import signal
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from explorer.model import to_plain
from explorer.pipeline.errors import user_error

_ASSERTION = re.compile(r"Assertion `(.+?)' failed", re.DOTALL)
_ERROR = re.compile(r"^error: (.+)$", re.MULTILINE)
_MOST_CHARACTERS = 200
#: Signals that no assertion sends: of who ends a process, or of a limit that it has reached.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU)


class Refused(Exception):
    """The compiler cannot do it; the message is what it says."""


def in_copies(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call the functions, in order; return what each one returned, as plain values, or a `Refused`.

    An aborted copy is followed by another one, which goes on behind what has ended the first.

    Raises:
        UserError: somebody has ended a copy, so that nothing is known of what it was at.
    """
    results: list[Any] = []
    while len(results) < len(tasks):
        done, complaint = _in_a_copy(tasks[len(results) :])
        results.extend(done)
        if len(results) < len(tasks):
            results.append(Refused(complaint))
    return results


def printed_in_a_copy(task: Callable[[], None], seconds: float) -> str:
    """Call the function in a copy; return what was written to the standard error descriptor until then.

    Raises:
        Refused: it has aborted.
        UserError: somebody has ended it.
    """
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(errors.fileno(), 2)
                # Nobody handles it: the copy ends there.
                signal.setitimer(signal.ITIMER_REAL, seconds)
                task()
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    _refuse_if_killed(status)
    is_late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
    if status and not is_late:
        raise Refused(_complaint(text))
    return text


def _in_a_copy(tasks: Sequence[Callable[[], Any]]) -> tuple[list[Any], str]:
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(errors.fileno(), 2)
                for task in tasks:
                    os.write(answers.fileno(), json.dumps(_outcome(task)).encode() + b"\n")
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        _refuse_if_killed(status)
        answers.seek(0)
        outcomes = [json.loads(line) for line in answers.read().splitlines()]
        errors.seek(0)
        complaint = _complaint(errors.read().decode(errors="replace"))
    return [Refused(value) if is_refused else value for is_refused, value in outcomes], complaint


def _refuse_if_killed(status: int) -> None:
    """An assertion ends a copy from inside; memory or time that run out say nothing of the compiler."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _FROM_OUTSIDE:
        name = signal.Signals(os.WTERMSIG(status)).name
        raise user_error(f"A copy of the compiler was ended ({name}): out of memory or time. Try again.")


def _outcome(task: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return False, to_plain(task())
    except Exception as error:
        return True, str(error)[:_MOST_CHARACTERS] or type(error).__name__


def _complaint(text: str) -> str:
    error = _ERROR.search(text)
    if error:
        return f"the compiler has aborted: {error[1][:_MOST_CHARACTERS]}"
    assertion = _ASSERTION.search(text)
    said = assertion[1] if assertion else text.strip().splitlines()[-1] if text.strip() else ""
    return f"the compiler has aborted: {said[:_MOST_CHARACTERS]}" if said else "the compiler has aborted."
