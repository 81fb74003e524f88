"""Test that the interpreter skips programs evenly when the time limit is reached."""

import json
import time
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter as triton_interpreter
from triton.runtime.jit import JITFunction

from explorer.examples import find_example
from explorer.model import Original, Request, Run
from explorer.model.hardware import find_target
from explorer.runner.interpreter import interpreter
from explorer.runner.interpreter.counts import Counter
from explorer.runner.job import perform
from explorer.runner.launch import captured_launch
from explorer.runner.launch.saved_tensors import SavedTensors, tensors_in


def number_programs(x_ptr, block: tl.constexpr):
    program = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(x_ptr + program, program + 1)


class Clock:
    """Make each program take a second."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    @contextmanager
    def program(self):
        yield
        self.now += 1.0


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def run(clock, seconds, grid=(10, 10, 1)):
    x = torch.zeros(grid[0] * grid[1], dtype=torch.int32)
    done = interpreter.interpret(
        JITFunction(number_programs), grid, (x, 4), seconds=seconds, around_program=clock.program
    )
    return done, x


def test_all_programs_run_in_their_order(clock):
    done, x = run(clock, seconds=1000)
    assert (done.programs, done.grid_programs, done.is_whole) == (100, 100, True)
    assert x.tolist() == list(range(1, 101))


def test_programs_beyond_the_time_are_left_out_evenly(clock):
    done, x = run(clock, seconds=20)
    assert 18 <= done.programs <= 21 and not done.is_whole
    programs = x.nonzero().flatten().tolist()
    assert len(programs) == done.programs
    assert programs[:4] == [0, 1, 2, 3]
    # Not only the first programs: the last tenth of the grid is checked, too.
    assert programs[-1] >= 90
    assert max(later - earlier for earlier, later in pairwise(programs)) <= 8


def test_elements_of_programs_that_were_not_run_are_not_written(clock):
    x = torch.zeros(100, dtype=torch.int32)
    counter = Counter({"x": x}, find_target("cuda:90"))
    with counter.counting():
        done = interpreter.interpret(
            JITFunction(number_programs), (100, 1, 1), (x, 4), seconds=20, around_program=clock.program
        )
    assert counter.written(x).tolist() == (x != 0).tolist()
    assert int(counter.written(x).sum()) == done.programs


def test_the_language_is_as_before_afterwards(clock):
    def language():
        builder = triton_interpreter.interpreter_builder
        own = sorted(name for name in vars(builder) if name.startswith("create_"))
        sums = triton_interpreter.ReduceOps.sum
        return tl.load, tl.reduce, hasattr(tl.tensor, "__index__"), JITFunction.__call__, sums, own

    before = language()
    with Counter({}, find_target("cuda:90")).counting():
        pass
    run(clock, seconds=1000, grid=(2, 1, 1))
    assert language() == before


def test_memory_is_restored_also_under_views():
    whole = torch.arange(24, dtype=torch.float32)
    tensors = tensors_in(
        ["view", "flipped", "pair", "size"],
        (whole[4:20].view(4, 4).t(), triton.reinterpret(whole, tl.int32), (whole[::2], 3), 7),
    )
    assert list(tensors) == ["view", "flipped", "pair.0"]
    snapshot = SavedTensors(tensors)
    whole.zero_()
    assert snapshot.of(tensors["view"]).tolist()[1] == [5.0, 9.0, 13.0, 17.0]
    snapshot.restore()
    assert whole.tolist() == list(range(24))


def test_a_run_that_is_cut_short_compares_what_was_written(monkeypatch, tmp_path):
    """The script ends with the launch, because later code would read incomplete results."""
    monkeypatch.setattr(captured_launch, "INTERPRETER_SECONDS", 1e-9)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    source = find_example("vector_add").source.replace("1_000_000", "10_000")
    events: list[Any] = []
    run = Run("interpreter", measures=("check", "counts"))
    perform(Request(source, "cuda:90", "", task="run", run=run), events.append)
    documents = {event.name: json.loads(event.document) for event in events if event.kind == "measurement"}
    assert [event for event in events if event.kind == "diagnostic"] == []
    assert (documents["counts"]["programs"], documents["counts"]["grid_programs"]) == (1, 10)
    assert documents["counts"]["stored_bytes"] == 4 * 1024
    (output,) = documents["check"]["outputs"]
    assert output["matches"] and output["compared"] == 1024
    assert documents["check"]["reference"] == "reference(x, y)"


def test_programs_that_add_up_are_not_compared_when_some_are_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(captured_launch, "INTERPRETER_SECONDS", 1e-9)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    source = find_example("vector_add").source.replace("tl.store(", "tl.atomic_add(")
    events: list[Any] = []
    request = Request(source, "cuda:90", "", task="run", run=Run("interpreter", measures=("check",)))
    perform(request, events.append)
    (check,) = [json.loads(event.document) for event in events if getattr(event, "name", "") == "check"]
    assert check["reason"].startswith("Only 1 of 977 programs were run") and check["outputs"] == []


def test_a_slow_kernel_that_adds_up_must_be_as_fast_as_its_original(monkeypatch, tmp_path):
    """One program that does all the work is always run."""
    monkeypatch.setattr(captured_launch, "COMPARED_SECONDS", 1e-9)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    many = find_example("vector_add").source.replace("tl.store(", "tl.atomic_add(")
    one = many.replace("1_000_000", "1_000")

    def events(original):
        found: list[Any] = []
        run = Run("interpreter", measures=("check",), original=Original(original))
        perform(Request(many, "cuda:90", "", task="run", run=run), found.append)
        return found

    (check,) = [json.loads(event.document) for event in events(many) if getattr(event, "name", "") == "check"]
    assert check["reason"].startswith("Programs that were not run add")
    errors = [event.message for event in events(one) if event.kind == "diagnostic"]
    assert errors == ["Programs of the kernel were left out for lack of time, but none of the original."]


def test_progress_of_a_long_launch_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(captured_launch, "SECONDS_BETWEEN_PROGRESS", 0.0)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    source = find_example("vector_add").source.replace("1_000_000", "4_000")
    events: list[Any] = []
    perform(Request(source, "cuda:90", "", task="run", run=Run("interpreter", ("counts",))), events.append)
    told = [event for event in events if event.kind == "progress"]
    assert [event.text for event in told[:5]] == [
        "Running the script",
        *(f"Interpreting: {number} of 4 programs" for number in range(1, 5)),
    ]
    assert [event.done for event in told] == sorted(event.done for event in told)
    assert told[4].done == 1000 and told[-1].done == told[-1].total == 2000


ASSERTED = """
@triton.jit
def asserted(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x < 3, "less than three")
    tl.store(x_ptr + tl.arange(0, BLOCK), x + 1)


asserted[(1,)](torch.arange(4, device="cuda"), BLOCK=4)
"""


def test_assertions_are_checked_with_debug_as_on_a_gpu(interpret):
    assert interpret(ASSERTED).status == "complete"
    for debugged in (
        ASSERTED.replace("BLOCK=4", "BLOCK=4, debug=True"),
        ASSERTED.replace(".jit", ".jit(debug=True)"),
    ):
        told = interpret(debugged)
        (error,) = told.errors
        assert (told.status, "less than three" in error["message"]) == ("failed", True)
        assert error["line"] == 3 + 5
    passed = (
        ASSERTED.replace("BLOCK=4", "BLOCK=4, debug=True").replace("arange(4", "arange(2").replace("=4", "=2")
    )
    assert interpret(passed).status == "complete"
