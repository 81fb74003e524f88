from pathlib import Path

import pytest

from explorer.model import Diagnostic, Log, Request
from explorer.sandbox import Limits, Sandbox, SandboxSettings

JAILED = Path(__file__).parent / "jailed"
# Four times as long as the computing: a busy machine shares its processors.
SMALL = Limits(working_seconds=8, cpu_seconds=2, memory_bytes=512 * 1024 * 1024, processes=32)


class Result:
    """The events of one job, and their text for users."""

    def __init__(self, events):
        self.events = list(events)
        self.done = self.events[-1]
        self.diagnostics = [event for event in self.events if isinstance(event, Diagnostic)]
        self.message = "\n".join(event.message for event in self.diagnostics)
        self.logs = {event.source: event.text for event in self.events if isinstance(event, Log)}


class Wall:
    """A sandbox whose jobs are plain Python."""

    def __init__(self, sandbox):
        self.sandbox = sandbox

    def request(self, source):
        return Request(source, "", self.sandbox.versions[0])

    def run(self, source):
        return Result(self.sandbox.run(self.request(source)))


@pytest.fixture(scope="session")
def settings():
    return SandboxSettings(
        limits=SMALL,
        slots_per_version=1,
        entry_point="python_entry_point",
        python_path=(JAILED,),
        start_seconds=30,
    )


@pytest.fixture(scope="session")
def wall(settings):
    sandbox = Sandbox(settings)
    sandbox.start()
    yield Wall(sandbox)
    sandbox.close()
