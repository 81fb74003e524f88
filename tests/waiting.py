"""Waiting for what happens soon."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def wait_for(condition: Callable[[], Found], problem: str = "", seconds: float = 60) -> Found:
    """Return the first result of a function that is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, problem
        time.sleep(0.02)
    return found
