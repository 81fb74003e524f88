"""Test the results and the exit status of a forked copy of the compiler."""

import os
import signal

import pytest

from explorer.pipeline.compiler_queries.isolation import (
    CompilerRefused,
    call_in_forks,
    capture_stderr_in_fork,
)
from explorer.pipeline.errors import UserError


def end_by(number):
    """A task that ends its process by a signal."""
    return lambda: os.kill(os.getpid(), number)


def test_an_assertion_takes_one_task_down():
    first, second, third = call_in_forks([lambda: 1, end_by(signal.SIGABRT), lambda: 3])
    assert (first, third) == (1, 3)
    assert isinstance(second, CompilerRefused)
    assert str(second) == "the compiler aborted."


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU])
def test_who_is_ended_from_outside_has_said_nothing_of_the_compiler(number):
    with pytest.raises(UserError, match=f"{number.name}.*Try again"):
        call_in_forks([lambda: 1, end_by(number), lambda: 3])
    with pytest.raises(UserError, match=number.name):
        capture_stderr_in_fork(end_by(number), 10)
