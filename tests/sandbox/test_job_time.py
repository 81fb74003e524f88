"""Test what counts as the time of a job."""

import os
import subprocess
import sys
import time

import pytest

from explorer.sandbox.job_time import JobTime
from explorer.sandbox.settings import Limits

BUSY = "while True: pass"
OTHERS = 3


@pytest.fixture
def start():
    """Start programs that share one processor."""
    processor = min(os.sched_getaffinity(0))
    started = []

    def run(source):
        started.append(subprocess.Popen([sys.executable, "-S", "-c", source]))
        os.sched_setaffinity(started[-1].pid, {processor})
        return started[-1].pid

    yield run
    for process in started:
        process.kill()
        process.wait()


def wait_for_end(job_time):
    while (seconds := job_time.exceeded()) is None:
        time.sleep(0.02)
    return seconds


def test_waiting_for_a_processor_does_not_count(start):
    for _ in range(OTHERS):
        start(BUSY)
    job = start(BUSY)
    elapsed, waited = wait_for_end(JobTime(Limits(working_seconds=1.5), lambda: [job]))
    assert elapsed > 3
    assert waited > elapsed / 2


def test_a_job_that_sleeps_is_stopped_at_the_limit(start):
    job = start("import time; time.sleep(60)")
    elapsed, waited = wait_for_end(JobTime(Limits(working_seconds=1.5), lambda: [job]))
    assert waited < 1
    assert elapsed - waited < 2.5


def test_processes_of_a_job_that_wait_for_each_other_gain_nothing(start):
    processes = [start(BUSY) for _ in range(1 + OTHERS)]
    elapsed, waited = wait_for_end(JobTime(Limits(working_seconds=3), lambda: processes))
    # Together, they have used the processor all the time.
    assert (waited, elapsed < 9) == (0, True)


def test_no_job_takes_longer_than_its_longest_time():
    # A process that is not there has waited for nothing, one with a forged count for years.
    job_time = JobTime(Limits(working_seconds=0.5), list)
    job_time._seen = {1: (0.0, 1e9)}
    elapsed, _ = wait_for_end(job_time)
    assert 2 <= elapsed < 4
