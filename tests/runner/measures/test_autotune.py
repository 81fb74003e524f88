"""Test that a failing configuration affects its own row only."""

import json
from pathlib import Path
from typing import Any

import pytest
from triton.runtime.errors import OutOfResources

from explorer.model import Config, Event, Measurement, Request, Run
from explorer.runner.measures import autotune
from explorer.runner.measures.context import MeasureContext
from explorer.runner.profilers import proton

#: Five launches with a cold cache: 2112, 1568, 1600, 1504 and 1600 ns.
HATCHET = (Path(__file__).parents[1] / "profilers/outputs" / "proton.hatchet").read_bytes()
ILLEGAL = RuntimeError("Triton Error [CUDA]: an illegal memory access was encountered")


class Launch:
    """A launch with configurations that fail."""

    def __init__(self, count, failures):
        self.configs = tuple(Config(index, {"BLOCK": 2**index}, {"num_warps": 4}) for index in range(count))
        self.failures = failures
        self.launched = []

    def restore(self):
        pass

    def run(self, config):
        self.launched.append(config)
        if config in self.failures:
            raise self.failures[config]


@pytest.fixture
def tuned(monkeypatch):
    """Return a function from the failing configurations to the rows of the table."""

    def tune(count, failures, profiles=()):
        launch: Any = Launch(count, failures)

        def warm_up(run):
            run()
            return 1.0

        def profile(_body):
            written = dict(profiles).get(launch.launched[-1], HATCHET)
            if isinstance(written, Exception):
                raise written
            return written

        monkeypatch.setattr(autotune, "warm_up", warm_up)
        monkeypatch.setattr(proton, "profile", profile)
        events: list[Event] = []
        context = MeasureContext(Request("", "cuda:90", ""), Run("gpu"), launch, events.append, steps=1)
        error = None
        try:
            autotune.measure(context)
        except RuntimeError as raised:
            error = raised
        (found,) = [json.loads(event.document) for event in events if isinstance(event, Measurement)]
        return found, error

    return tune


def problems(found):
    return [row["problem"] for row in found["configs"]]


def test_what_cannot_be_launched_or_profiled_is_a_row_with_its_message(tuned):
    found, error = tuned(
        6,
        {1: OutOfResources(300_000, 232_448, "shared memory"), 4: ValueError("no such layout")},
        {
            2: HATCHET[: len(HATCHET) // 2],
            3: proton.ProtonFailed("Proton has written no hatchet file."),
            5: b'[{"children": [], "frame": {"name": "ROOT"}, "metrics": {}}]',
        },
    )
    assert error is None
    assert [row["config"] for row in found["configs"]] == list(range(6))
    first, shared, half, unwritten, refused, unseen = problems(found)
    assert first == "" and found["configs"][0]["median_ns"] == 1600 and found["best"] == 0
    assert "shared memory, Required: 300000, Hardware limit: 232448" in shared
    assert "not a tree of kernels" in half
    assert "Proton has written no hatchet file." in unwritten
    assert refused == "ValueError: no such layout"
    assert "Proton recorded no kernel in the scope 'cold 0'." in unseen
    assert all(row["median_ns"] is None for row in found["configs"][1:])


def test_a_table_is_told_also_when_no_configuration_can_be_timed(tuned):
    found, error = tuned(2, {0: ValueError("no"), 1: ValueError("no")})
    assert (found["best"], error) == (None, None)


def test_what_was_timed_before_the_gpu_went_wrong_is_told(tuned):
    found, error = tuned(4, {2: ILLEGAL})
    assert error is ILLEGAL, "the measures after it are not tried"
    assert found["best"] == 0
    one, other, illegal, left = problems(found)
    assert (one, other) == ("", "")
    assert illegal == "A kernel reads or writes outside of its tensors (CUDA: illegal memory access)."
    assert left == "Not timed: the GPU became unusable with configuration 2."
