"""Test a job that arrives while its idle processes are killed from outside."""

import dataclasses
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from explorer.errors import SandboxUnavailable
from explorer.model import Request
from explorer.sandbox import Sandbox

#: The processes of an idle jail, from the outermost one in.
CHAIN = (
    "bubblewrap",
    "its init",
    "the first zygote",
    "the zygote of the version",
    "the zygote of the slot",
    "the keeper",
    "the warden",
    "the worker",
)
KEEPER = CHAIN.index("the keeper")
WAIT_SECONDS = 30.0
#: A job that says at once how far it is, as runs do, and takes longer than a kill to reach all of a jail.
JOB = "emit(model.Progress(0, 1, 'begun'))\nimport time; time.sleep(0.3)\nprint('done')"


def threads():
    return {int(path.name) for path in Path("/proc/self/task").iterdir()}


def children(path):
    return [int(pid) for pid in path.joinpath("children").read_text().split()]


class Jail:
    """The only jail of a sandbox."""

    def __init__(self, settings):
        before = threads()
        self.sandbox = Sandbox(settings)
        self.sandbox.start()
        self.version = self.sandbox.versions[0]
        assert self.run() == ["log", "done"]
        self._threads = threads() - before
        self._job = ThreadPoolExecutor(1)

    def start(self, source):
        """Start a job. Return its events, once a slot has it."""
        events = self._job.submit(lambda: list(self.sandbox.run(Request(source, "", self.version))))
        pool = self.sandbox._pools.of(self.version)
        while pool.state().busy == 0:
            time.sleep(0.001)
        return events

    def run(self):
        return kinds(self.sandbox.run(Request(JOB, "", self.version)))

    def chain(self):
        """Return the chain of its processes, each a child of the one before."""
        pids = [pid for thread in self._threads for pid in children(Path(f"/proc/self/task/{thread}"))]
        found = []
        while pids:
            found.append(pids[0])
            pids = children(Path(f"/proc/{pids[0]}/task/{pids[0]}"))
        return found

    def idle_chain(self, other_than=()):
        """Wait until the processes of the next job wait for their request, and return the chain."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            try:
                chain = self.chain()
                if len(chain) == len(CHAIN) and chain[-1] not in other_than and is_reading(chain[-1]):
                    return chain
            except OSError:  # one of them has just gone
                pass
            time.sleep(0.005)
        raise AssertionError(f"the jail is not ready: {self.chain()}")


def kinds(events):
    """Return the kinds of the events, except for progress."""
    return [event.kind for event in events if event.kind != "progress"]


def is_reading(pid):
    """Return whether a process sleeps in a read, as the worker does before it has its request."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


@pytest.fixture
def jail(settings):
    jail = Jail(dataclasses.replace(settings, warm_up=False))
    yield jail
    jail.sandbox.close()


@pytest.mark.parametrize(
    "killed",
    [pytest.param(each, marks=() if each == KEEPER else pytest.mark.nightly) for each in range(len(CHAIN))],
    ids=CHAIN,
)
def test_whichever_process_of_an_idle_jail_is_killed_the_next_run_works(jail, killed):
    worker = 0
    for _ in range(5):
        chain = jail.idle_chain(other_than=(worker,))
        worker = chain[-1]
        os.kill(chain[killed], signal.SIGKILL)
        assert jail.run() == ["log", "done"]


@pytest.mark.parametrize("killed", CHAIN[KEEPER:])
def test_a_job_that_was_handed_over_and_not_begun_is_done_by_another_jail(jail, killed):
    chain = jail.idle_chain()
    os.kill(chain[-1], signal.SIGSTOP)  # it cannot read the request that it is given
    events = jail.start(JOB)
    os.kill(chain[CHAIN.index(killed)], signal.SIGKILL)
    assert kinds(events.result()) == ["log", "done"]


def test_what_the_sources_own_end_looks_like_is_told_and_not_tried_again(jail):
    events = list(jail.sandbox.run(Request("import os; os.kill(os.getpid(), 9)", "", jail.version)))
    assert [event.kind for event in events] == ["diagnostic", "done"]
    assert "SIGKILL" in events[0].message


def test_a_job_that_is_killed_again_and_again_is_given_up(jail):
    events = jail.start("import time; time.sleep(60)")
    first = jail.idle_chain()
    os.kill(first[-2], signal.SIGKILL)
    second = jail.idle_chain(other_than=first)
    os.kill(second[-2], signal.SIGKILL)
    with pytest.raises(SandboxUnavailable, match="restarted during this job"):
        events.result()
    assert jail.run() == ["log", "done"]
