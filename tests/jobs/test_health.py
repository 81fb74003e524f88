"""Test the causes of an unhealthy server. The tests of slots are in `tests/monitoring`."""

import pytest

from explorer.jobs.health import SlotHealth, problem_of_slots


def slot(kind, state, name=""):
    return SlotHealth(kind, name or kind, "3.9.0", state, None, "It hangs." if state == "failing" else None)


@pytest.mark.parametrize(
    ("slots", "is_problem"),
    [
        ([slot("compile", "ok"), slot("interpreter", "starting")], False),
        ([slot("compile", "ok"), slot("interpreter", "failing")], True),
        ([slot("compile", "ok"), slot("gpu", "failing", "GPU-1"), slot("gpu", "ok", "GPU-2")], False),
        ([slot("compile", "ok"), slot("gpu", "failing", "GPU-1"), slot("gpu", "failing", "GPU-2")], True),
    ],
    ids=["starting", "one kind fails", "one GPU works", "no GPU works"],
)
def test_each_kind_of_slot_has_to_work(slots, is_problem):
    problem = problem_of_slots(slots)
    assert bool(problem) is is_problem
    assert problem is None or "It hangs." in problem
