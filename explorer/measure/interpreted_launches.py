"""The user's code with tensors in the processor's memory: its launches run in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from triton import runtime as triton_runtime

from explorer.measure import operators
from explorer.measure.counts import Counter
from explorer.measure.cpu_tensors import CpuTensorMode
from explorer.measure.interpreter import interpret, refuse_gluon
from explorer.measure.snapshot import tensors_in
from explorer.measure.taking import Taken, Taker, Wanted
from explorer.pipeline.fake_gpu import RecordedLaunch, benchmarks, cuda, replaced, runtime, torch_extras
from explorer.pipeline.fake_gpu.driver import FakeDriver
from explorer.pipeline.fake_gpu.runtime import FakeKernel
from explorer.pipeline.script import Finished
from explorer.pipeline.stand_ins import stand_ins
from explorer.pipeline.targets import Target

#: What a launch may take that the wanted one does not need; the script ends with one that takes longer.
SECONDS_BESIDE = 10.0

#: Runs the wanted launch, and tells whether it was the whole of it.
RunTaken = Callable[[Taken], bool]

_mode = CpuTensorMode()


class InterpretedKernel(FakeKernel):
    """Stands for a compiled kernel: launching it runs its programs."""

    def __init__(self, taker: InterpreterTaker, launch: RecordedLaunch) -> None:
        super().__init__(taker, launch)
        self._taker = taker

    def launch_metadata(self, grid: tuple[Any, ...], _stream: object, *arguments: Any) -> None:
        refuse_gluon(self.launch.jit_function)
        super().launch_metadata(grid, _stream, *arguments)
        self._taker.launching(self.launch, grid, arguments, self)

    def run(self, *launch: Any) -> None:
        """Run the programs; the first three arguments are the grid, the last ones the kernel's."""
        arguments = launch[len(launch) - len(self.launch.jit_function.params) :]
        self._taker.run(self.launch, (launch[0], launch[1], launch[2]), arguments)

    def __getitem__(self, grid: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*arguments: Any, stream: object = None) -> None:
            self.launch_metadata(grid, stream, *arguments)
            self.run(*(*grid, 1, 1)[:3], *arguments)

        return launch


class InterpreterTaker(Taker):
    """Runs what is launched; the wanted launch is run by `run_taken`."""

    def __init__(
        self, target: Target, wanted: Wanted, take: Callable[[Taken], None], run_taken: RunTaken
    ) -> None:
        super().__init__(target.for_triton(), wanted, take)
        self._run_taken = run_taken
        self._has_run = False

    def make_kernel(self, launch: RecordedLaunch) -> InterpretedKernel:
        return InterpretedKernel(self, launch)

    def run(self, launch: RecordedLaunch, grid: tuple[int, int, int], arguments: tuple[Any, ...]) -> None:
        if self.taken is not None and not self._has_run:
            self._has_run = True
            is_whole = self._run_taken(self.taken)
            self.has_launched = True
            if not is_whole:
                raise Finished  # what comes after would find results that are not whole
            return
        is_needed = self.is_open and self.taken is None
        seconds = float("inf") if is_needed else SECONDS_BESIDE
        # Counting also keeps a kernel inside of its tensors: this process would not outlive the other.
        with Counter(tensors_in(launch.jit_function.arg_names, arguments)).counting():
            if not interpret(launch.jit_function, grid, arguments, seconds=seconds).is_whole:
                raise Finished


@contextmanager
def interpreting(
    target: Target, wanted: Wanted, take: Callable[[Taken], None], run_taken: RunTaken
) -> Iterator[Taker]:
    """Let the user's code launch in the interpreter, on what it takes for a GPU of `target`.

    `take` is called with the wanted launch before it is made, and `run_taken` to make it.
    """
    taker = InterpreterTaker(target, wanted, take, run_taken)
    triton_runtime.driver.set_active(FakeDriver(target))
    changes = [*operators.collected(), *benchmarks.replacements(), *runtime.replacements(taker)]
    with replaced(changes), on_the_processor(target):
        yield taker


@contextmanager
def on_the_processor(target: Target) -> Iterator[None]:
    """Let the user's code find the processor where it looks for a GPU of `target`."""
    changes = [
        *cuda.replacements(target),
        *torch_extras.uncompiled(),
        *operators.on_the_processor(_mode),
    ]
    with replaced(changes), stand_ins(), _mode:
        yield
