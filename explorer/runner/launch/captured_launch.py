"""A launch that was captured from the user's code, ready to be made again: implements `context.Launch`."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import torch

from explorer.model import Diagnostic, Request, Run
from explorer.model.hardware import Target
from explorer.model.measurements import LaunchFacts, RunArgument
from explorer.model.measurements.limits import MOST_KINDS
from explorer.pipeline.arguments import describe_arguments
from explorer.pipeline.errors import user_error
from explorer.pipeline.module import FoundKernel
from explorer.pipeline.specialize import display_options
from explorer.runner.interpreter.counts import Counter
from explorer.runner.interpreter.interpreted_launches import on_the_processor
from explorer.runner.interpreter.interpreter import Interpretation, interpret
from explorer.runner.launch.gpu_launches import select_again
from explorer.runner.launch.reference_calls import ReferenceCall
from explorer.runner.launch.saved_tensors import SavedTensors, tensors_in
from explorer.runner.launch.select_launch import SelectedLaunch, WantedLaunch
from explorer.runner.launch.uninitialized_memory import is_uninitialized

#: Reports the current activity, and the completed share, 0 to 1.
Progress = Callable[[str, float], None]

#: The time limit of a launch in the interpreter. Further programs are not run.
INTERPRETER_SECONDS = 30.0
#: The same if the launch is compared with another form of the kernel: both are launched, for many changes.
COMPARED_SECONDS = 8.0
SECONDS_BETWEEN_PROGRESS = 0.5


@dataclass(frozen=True)
class CaptureContext:
    """The origin of a captured launch: the kernel, the request, and the namespace of the script."""

    request: Request
    run: Run
    target: Target
    kernel: FoundKernel
    wanted: WantedLaunch
    namespace: dict[str, Any]
    progress: Progress


class CapturedLaunch(ABC):
    """One launch. Created when the user's code is about to make it, before any tensor has changed.

    `capture` sets, at the end of the script, `reference_call`, the script's own call of its function
    `reference`, and `reference`, which computes the expected results; None: there is none.
    """

    def __init__(self, selected: SelectedLaunch, capture_context: CaptureContext) -> None:
        self.selected = selected
        self.capture_context = capture_context
        self.namespace = capture_context.namespace
        self.configs = capture_context.kernel.info.configs
        self.facts = _facts(selected, capture_context)
        self.reference_call: ReferenceCall | None = None
        names = [parameter.name for parameter in selected.launch.jit_function.params]
        self.arguments = dict(zip(names, selected.arguments, strict=True))
        self.tensors = tensors_in(names, selected.arguments)
        self.before = SavedTensors(self.tensors)
        self.compiled: Any = None
        self.reference: Callable[[], object] | None = None

    @abstractmethod
    def run(self, config: int | None = None) -> None:
        """Launch once, asynchronously, on the current values of the tensors."""

    @abstractmethod
    def recompile_and_run(self) -> None:
        """Compile the kernel again and launch it once: the compiler was told to add instrumentation."""

    @abstractmethod
    def results(self) -> dict[str, torch.Tensor]:
        """Return the tensors after one launch on their original values."""

    @abstractmethod
    def written(self, name: str) -> torch.Tensor | None:
        """Return which elements of a tensor one launch writes. None: unknown."""

    @abstractmethod
    def uninitialized_inputs(self) -> list[Diagnostic]:
        """Return warnings about uninitialized inputs: `torch.empty` sets nothing."""

    @abstractmethod
    def script_environment(self) -> AbstractContextManager[None]:
        """Return a context in which user code executes as in the script."""

    def restore(self) -> None:
        self.before.restore()


class GpuLaunch(CapturedLaunch):
    """A launch on the GPU: the compiled kernel itself, without the script's code around it."""

    def __init__(self, selected: SelectedLaunch, capture_context: CaptureContext) -> None:
        super().__init__(selected, capture_context)
        self.compiled = selected.compiled
        self._by_config: dict[int | None, SelectedLaunch] = {None: selected, selected.launch.config: selected}

    def run(self, config: int | None = None) -> None:
        if config not in self._by_config:
            self._by_config[config] = self._select_again(config)
        selected = self._by_config[config]
        self.compiled = selected.compiled
        selected.compiled[selected.grid](*selected.arguments)

    def recompile_and_run(self) -> None:
        self.compiled = self._select_again(self.facts.config).compiled

    def _select_again(self, config: int | None) -> SelectedLaunch:
        """Make the call again, through the just-in-time compiler. Return the launch that it makes."""
        return select_again(
            self.selected, dataclasses.replace(self.capture_context.wanted, index=None, config=config)
        )

    def results(self) -> dict[str, torch.Tensor]:
        self.restore()
        self.run()
        torch.cuda.synchronize()
        return self.tensors

    def written(self, name: str) -> torch.Tensor | None:  # noqa: ARG002  no argument is known
        return None

    def uninitialized_inputs(self) -> list[Diagnostic]:
        """Return warnings about uninitialized inputs that the kernel does not write (reads: unknown)."""
        return [
            _uninitialized(f"{name} is uninitialized, before the launch and after it", self.facts.line)
            for name, tensor in self.tensors.items()
            if is_uninitialized(tensor) and is_uninitialized(self.before.of(tensor))
        ]

    def script_environment(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


class InterpretedLaunch(CapturedLaunch):
    """A launch in the interpreter. The first is counted. `interpretation` is the part that was run."""

    def __init__(self, selected: SelectedLaunch, capture_context: CaptureContext) -> None:
        super().__init__(selected, capture_context)
        self.counter = Counter(self.tensors, capture_context.target)
        self.interpretation = Interpretation(0, 0)
        self._after = self.before

    def run_first(self) -> None:
        """Run and count. Must be called once, on the original values."""
        programs = math.prod(self.selected.grid)
        seconds = INTERPRETER_SECONDS if self.capture_context.run.original is None else COMPARED_SECONDS
        start = reported = time.monotonic()
        done = 0

        @contextlib.contextmanager
        def program() -> Iterator[None]:
            nonlocal done, reported
            with self.counter.program():
                yield
            done += 1
            now = time.monotonic()
            if now - reported > SECONDS_BETWEEN_PROGRESS:
                reported = now
                share = max(done / programs, (now - start) / seconds)
                self.capture_context.progress(f"Interpreting: {done:,} of {programs:,} programs", share)

        with torch._C.DisableTorchFunction(), self.counter.counting():
            self.interpretation = interpret(
                self.selected.launch.jit_function,
                self.selected.grid,
                self.selected.arguments,
                debug=self.selected.launch.is_debugged,
                seconds=seconds,
                around_program=program,
            )
            self._after = SavedTensors(self.tensors)

    def run(self, config: int | None = None) -> None:
        if config not in (None, self.selected.launch.config):
            raise user_error("The interpreter runs only one configuration.", self.facts.line)
        launch = self.selected.launch
        interpret(launch.jit_function, self.selected.grid, self.selected.arguments, debug=launch.is_debugged)

    def recompile_and_run(self) -> None:
        raise user_error("The interpreter compiles nothing.", self.facts.line)

    def results(self) -> dict[str, torch.Tensor]:
        return {name: self._after.of(tensor) for name, tensor in self.tensors.items()}

    def written(self, name: str) -> torch.Tensor | None:
        return self.counter.written(self.tensors[name])

    def uninitialized_inputs(self) -> list[Diagnostic]:
        return [
            _uninitialized(
                f"The kernel reads {count:,} uninitialized element{'s' * (count != 1)} of {name}", line
            )
            for (line, name), count in sorted(self.counter.uninitialized_reads.items())
        ]

    def script_environment(self) -> AbstractContextManager[None]:
        return on_the_processor(self.capture_context.target)


def _uninitialized(what: str, line: int) -> Diagnostic:
    return Diagnostic(
        "warning",
        f"{what}: torch.empty does not initialize memory.",
        line=line,
        hint="Such memory is filled with NaN or -1 here. Initialize it: torch.zeros, torch.randn.",
    )


def _facts(selected: SelectedLaunch, capture_context: CaptureContext) -> LaunchFacts:
    bound = {
        parameter.name: value
        for parameter, value in zip(selected.launch.jit_function.params, selected.arguments, strict=True)
    }
    launch = dataclasses.replace(selected.launch, bound_arguments=bound)
    arguments = tuple(
        RunArgument(argument.name, argument.type, argument.value, argument.shape, argument.strides)
        for argument in describe_arguments(launch)
    )
    return LaunchFacts(
        launch.jit_function.__name__,
        launch.line or capture_context.kernel.info.line,
        selected.grid,
        arguments,
        launch.config,
        display_options(launch.options, capture_context.request),
        _stated(selected, bound),
    )


def _stated(selected: SelectedLaunch, bound: dict[str, Any]) -> dict[str, float]:
    """Call the kernel's own `launch_metadata` for this launch."""
    function = selected.launch.jit_function.launch_metadata
    if function is None:
        return {}
    metadata = getattr(selected.compiled, "metadata", SimpleNamespace())
    stated = function(selected.grid, metadata, bound) or {}
    numbers = {
        str(name): float(value)
        for name, value in stated.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    }
    return dict(list(numbers.items())[:MOST_KINDS])
