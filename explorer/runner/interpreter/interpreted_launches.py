"""Executes the user's code with CPU tensors. Its launches run in Triton's interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from triton import runtime as triton_runtime
from triton.compiler import make_backend
from triton.runtime import interpreter

from explorer.model.hardware import Target
from explorer.pipeline.fake_gpu import RecordedLaunch, benchmarks, cuda, replaced, runtime, torch_extras
from explorer.pipeline.fake_gpu.driver import FakeDriver
from explorer.pipeline.fake_gpu.runtime import FakeKernel
from explorer.pipeline.missing_modules import unused_compilers
from explorer.pipeline.script import StopScript
from explorer.pipeline.targets import triton_target
from explorer.runner.interpreter.counts import Counter
from explorer.runner.interpreter.cpu_tensors import CpuTensorMode
from explorer.runner.interpreter.interpreter import interpret, refuse_gluon
from explorer.runner.launch import operators
from explorer.runner.launch.saved_tensors import tensors_in
from explorer.runner.launch.select_launch import LaunchSelector, SelectedLaunch, WantedLaunch

#: The time limit of a launch that the wanted launch does not depend on. A longer launch ends the script.
SECONDS_BESIDE = 10.0

#: Runs the wanted launch, and returns whether all its programs were run.
RunSelected = Callable[[SelectedLaunch], bool]

_mode = CpuTensorMode()


class InterpretedKernel(FakeKernel):
    """Replaces a compiled kernel: launching it runs its programs in the interpreter."""

    def __init__(self, selector: InterpreterLaunchSelector, launch: RecordedLaunch) -> None:
        super().__init__(selector, launch)
        self._taker = selector

    def launch_metadata(self, grid: tuple[Any, ...], _stream: object, *arguments: Any) -> None:
        refuse_gluon(self._launch.jit_function)
        super().launch_metadata(grid, _stream, *arguments)
        self._taker.launching(self._launch, grid, arguments, self)

    def run(self, *launch: Any) -> None:
        """Run the programs. The arguments are the grid (three), and last the kernel's."""
        arguments = launch[len(launch) - len(self._launch.jit_function.params) :]
        self._taker.run(self._launch, (launch[0], launch[1], launch[2]), arguments)

    def __getitem__(self, grid: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*arguments: Any, stream: object = None) -> None:
            self.launch_metadata(grid, stream, *arguments)
            self.run(*(*grid, 1, 1)[:3], *arguments)

        return launch


class InterpreterLaunchSelector(LaunchSelector):
    """Runs all launches in the interpreter. `run_selected` runs the wanted launch."""

    def __init__(
        self,
        target: Target,
        wanted: WantedLaunch,
        on_selected: Callable[[SelectedLaunch], None],
        run_selected: RunSelected,
    ) -> None:
        super().__init__(triton_target(target), wanted, on_selected)
        self._target = target
        self._run_taken = run_selected
        self._has_run = False

    def make_kernel(self, launch: RecordedLaunch) -> InterpretedKernel:
        return InterpretedKernel(self, launch)

    def run(self, launch: RecordedLaunch, grid: tuple[int, int, int], arguments: tuple[Any, ...]) -> None:
        if self.selected is not None and not self._has_run:
            self._has_run = True
            is_whole = self._run_taken(self.selected)
            self.has_launched = True
            if not is_whole:
                raise StopScript  # Later statements would use incomplete results.
            return
        is_needed = self.is_open and self.selected is None
        seconds = float("inf") if is_needed else SECONDS_BESIDE
        # Counting also checks the addresses: an access outside of the tensors would crash this process.
        tensors = tensors_in(launch.jit_function.arg_names, arguments)
        with Counter(tensors, self._target).counting():
            done = interpret(launch.jit_function, grid, arguments, debug=launch.is_debugged, seconds=seconds)
            if not done.is_whole:
                raise StopScript


@contextmanager
def interpreting(
    target: Target,
    wanted: WantedLaunch,
    on_selected: Callable[[SelectedLaunch], None],
    run_selected: RunSelected,
) -> Iterator[LaunchSelector]:
    """Make the user's launches run in the interpreter, as if on a GPU of `target`.

    `on_selected` is called with the wanted launch before it is made, and `run_selected` to make it.
    """
    selector = InterpreterLaunchSelector(target, wanted, on_selected, run_selected)
    triton_runtime.driver.set_active(FakeDriver(target))
    changes = [*operators.collected(), *benchmarks.replacements(), *runtime.replacements(selector)]
    with replaced(changes), on_the_processor(target):
        yield selector


@contextmanager
def on_the_processor(target: Target) -> Iterator[None]:
    """Make the user's code use the CPU in place of a GPU of `target`."""
    changes = [
        *cuda.replacements(target),
        *torch_extras.uncompiled(),
        *operators.on_the_processor(_mode),
        _input_precisions(target),
    ]
    with replaced(changes), unused_compilers(), _mode:
        yield


def _input_precisions(target: Target) -> tuple[Any, str, Any]:
    """Allow the input precisions of the target. The interpreter has its own, and computes in fp32."""
    builder = interpreter.interpreter_builder
    options = make_backend(triton_target(target)).parse_options({"arch": None})
    names = ("default_dot_input_precision", "allowed_dot_input_precisions")
    return builder, "options", replace(builder.options, **{name: getattr(options, name) for name in names})
