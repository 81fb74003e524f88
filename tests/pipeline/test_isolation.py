"""What a forked copy of the compiler has found out, and how it ended."""

import os
import signal

import pytest

from explorer.pipeline.errors import UserError
from explorer.pipeline.questions.isolation import Refused, in_copies, printed_in_a_copy


def end_by(number):
    """A task that ends its process by a signal."""
    return lambda: os.kill(os.getpid(), number)


def test_an_assertion_takes_one_task_down():
    first, second, third = in_copies([lambda: 1, end_by(signal.SIGABRT), lambda: 3])
    assert (first, third) == (1, 3)
    assert isinstance(second, Refused)
    assert str(second) == "the compiler has aborted."


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGXCPU])
def test_who_is_ended_from_outside_has_said_nothing_of_the_compiler(number):
    with pytest.raises(UserError, match=f"{number.name}.*Try again"):
        in_copies([lambda: 1, end_by(number), lambda: 3])
    with pytest.raises(UserError, match=number.name):
        printed_in_a_copy(end_by(number), 10)
