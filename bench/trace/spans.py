"""Wraps functions, so that each call reports when it began and how long it took.

The clock is that of the system since its start, which is the same in all processes.
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import resource
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

#: Takes a span: what ran, in which thread, and the times in nanoseconds.
Report = Callable[[dict[str, Any]], None]


def wrap(places: Iterable[str], report: Report) -> None:
    """Wrap functions, each named by its module and its path there: "package.module:Class.method"."""
    for place in places:
        module_name, _, path = place.partition(":")
        *outer, name = path.split(".")
        owner = importlib.import_module(module_name)
        if outer:
            owner = operator.attrgetter(".".join(outer))(owner)
        setattr(owner, name, _timed(getattr(owner, name), path, report))


def _timed(function: Callable[..., Any], name: str, report: Report) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        process = os.getpid()
        faults = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
        processor, start = time.thread_time_ns(), time.monotonic_ns()
        try:
            return function(*arguments, **options)
        finally:
            end = time.monotonic_ns()
            if os.getpid() == process:  # It does not end in a fork, too.
                report(
                    {
                        "name": name,
                        "thread": threading.current_thread().name,
                        "start": start,
                        "end": end,
                        "processor": time.thread_time_ns() - processor,
                        "faults": resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - faults,
                    }
                )

    return call
