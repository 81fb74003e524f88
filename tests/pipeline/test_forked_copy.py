"""A forked copy of a process computes values within limits of time and memory."""

import itertools
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from explorer.pipeline.forked_copy import ForkedCopy

MEBIBYTE = 1 << 20


def test_values_come_in_order():
    values = [None, ("text", ""), ["x" * MEBIBYTE, 1]]
    copy = ForkedCopy(iter(values))
    assert list(copy.values()) == values
    assert not copy.was_stopped


def test_a_copy_that_takes_too_long_is_ended():
    def endless():
        for number in itertools.count():
            yield number, os.getpid()
            time.sleep(0.01)

    copy = ForkedCopy(endless())
    start = time.monotonic()
    found = list(copy.values(0.5))
    assert time.monotonic() - start < 5
    assert [number for number, _ in found] == list(range(len(found)))
    assert found
    assert copy.was_stopped
    with suppress(ChildProcessError):  # it has been waited for already
        _, status = os.waitpid(found[0][1], 0)
        assert os.WTERMSIG(status) == signal.SIGKILL


def test_a_copy_that_needs_too_much_memory_ends_and_its_values_stay():
    def growing():
        for size in (1, 10, 1000):
            yield len(bytes(size * MEBIBYTE))

    copy = ForkedCopy(growing(), 200 * MEBIBYTE)
    assert list(copy.values()) == [MEBIBYTE, 10 * MEBIBYTE]
    assert not copy.was_stopped


def test_a_copy_yields_the_processor_if_it_has_a_limit_of_memory():
    def priorities():
        yield os.nice(0)

    assert list(ForkedCopy(priorities(), 200 * MEBIBYTE).values()) == [19]
    assert list(ForkedCopy(priorities()).values()) == [os.nice(0)]


@pytest.mark.slow
def test_the_wait_for_a_processor_does_not_count():
    processors = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(processors)})
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def values():
        end = time.process_time() + 0.8
        while time.process_time() < end:
            pass
        yield "computed"

    try:
        copy = ForkedCopy(values())
        assert list(copy.values(1.0)) == ["computed"]
        assert not copy.was_stopped
        # It counts in the end.
        copy = ForkedCopy(values())
        began = time.monotonic()
        assert list(copy.values(0.1)) == []
        assert copy.was_stopped
        assert time.monotonic() - began < 1.0
    finally:
        busy.kill()
        busy.wait()
        os.sched_setaffinity(0, processors)
