"""Programs that there is no time for are left out, evenly, and the rest is still right."""

from contextlib import contextmanager
from itertools import pairwise

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.jit import JITFunction

from explorer.measure import interpreter
from explorer.measure.counts import Counter
from explorer.measure.snapshot import Snapshot, tensors_in


def number_programs(x_ptr, block: tl.constexpr):
    program = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    tl.store(x_ptr + program, program + 1)


class Clock:
    """Each program takes a second."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(interpreter.time, "monotonic", lambda: self.now)

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
    # Not only the first ones: the last tenth of the grid is looked at, too.
    assert programs[-1] >= 90
    assert max(later - earlier for earlier, later in pairwise(programs)) <= 8


def test_elements_of_programs_that_were_not_run_are_not_written(clock):
    x = torch.zeros(100, dtype=torch.int32)
    counter = Counter({"x": x})
    with counter.counting():
        done = interpreter.interpret(
            JITFunction(number_programs), (100, 1, 1), (x, 4), seconds=20, around_program=clock.program
        )
    assert counter.written(x).tolist() == (x != 0).tolist()
    assert int(counter.written(x).sum()) == done.programs


def test_the_language_is_as_before_afterwards(clock):
    def language():
        builder = interpreter.interpreter.interpreter_builder
        own = sorted(name for name in vars(builder) if name.startswith("create_"))
        sums = interpreter.interpreter.ReduceOps.sum
        return tl.load, tl.reduce, hasattr(tl.tensor, "__index__"), JITFunction.__call__, sums, own

    before = language()
    with Counter({}).counting():
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
    snapshot = Snapshot(tensors)
    whole.zero_()
    assert snapshot.of(tensors["view"]).tolist()[1] == [5.0, 9.0, 13.0, 17.0]
    snapshot.restore()
    assert whole.tolist() == list(range(24))
