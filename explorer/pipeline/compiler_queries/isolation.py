"""Calls functions in forked copies of the process, so that a call that aborts ends only its copy.

The compiler's bindings check some arguments by C++ assertions, which abort the process.
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
from explorer.pipeline.tool_output import last_words

_ASSERTION = re.compile(r"Assertion `(.+?)' failed", re.DOTALL)
_ERROR = re.compile(r"^error: (.+)$", re.MULTILINE)
_MOST_CHARACTERS = 200
#: Signals that do not come from an assertion: the process was killed or has reached a limit.
_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU)


class CompilerRefused(Exception):
    """The compiler cannot do this. The message is the compiler's."""


def call_in_forks(tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """Call the functions in order. Return for each its plain result or a `CompilerRefused`.

    After a copy has aborted, another copy continues with the next function.

    Raises:
        UserError: a copy was killed, so that the result of its function is unknown.
    """
    results: list[Any] = []
    while len(results) < len(tasks):
        done, complaint = _in_a_copy(tasks[len(results) :])
        results.extend(done)
        if len(results) < len(tasks):
            results.append(CompilerRefused(complaint))
    return results


def capture_stderr_in_fork(task: Callable[[], None], seconds: float) -> str:
    """Call the function in a forked copy. Return what the copy wrote to standard error.

    Raises:
        CompilerRefused: the copy aborted.
        UserError: the copy was killed.
    """
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.dup2(errors.fileno(), 2)
                # Nothing handles the exception: the copy ends here.
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
        raise CompilerRefused(_complaint(text))
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
    return [CompilerRefused(value) if is_refused else value for is_refused, value in outcomes], complaint


def _refuse_if_killed(status: int) -> None:
    """Raise if a copy was killed for memory or time: the compiler did not cause that."""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _FROM_OUTSIDE:
        name = signal.Signals(os.WTERMSIG(status)).name
        raise user_error(f"A compiler process was killed ({name}): it ran out of memory or time. Try again.")


def _outcome(task: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        return False, to_plain(task())
    except Exception as error:  # The compiler may raise any exception.
        return True, str(error)[:_MOST_CHARACTERS] or type(error).__name__


def _complaint(text: str) -> str:
    error = _ERROR.search(text)
    if error:
        return f"the compiler aborted: {error[1][:_MOST_CHARACTERS]}"
    assertion = _ASSERTION.search(text)
    last_line = text.strip().rpartition("\n")[2]
    message = assertion[1] if assertion else last_words(text) or last_line
    return f"the compiler aborted: {message[:_MOST_CHARACTERS]}" if message else "the compiler aborted."
