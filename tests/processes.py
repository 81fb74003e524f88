"""Ask processes that may end at any moment."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TypeVar

import psutil

Answer = TypeVar("Answer")


def ask_each(
    processes: Iterable[psutil.Process], question: Callable[[psutil.Process], Answer]
) -> list[tuple[psutil.Process, Answer]]:
    """Return pairs of a process and its answer to a question.

    A process that ended after it was listed is left out.
    """
    answers = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            answers.append((process, question(process)))
    return answers


def named(processes: Iterable[psutil.Process], name: str) -> list[psutil.Process]:
    return [process for process, found in ask_each(processes, psutil.Process.name) if found == name]
