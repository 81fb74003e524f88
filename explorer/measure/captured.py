"""A launch that was taken from the user's code, ready to be made again: what `bench.Launch` asks for."""

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

from explorer.measure.counts import Counter
from explorer.measure.gpu_launches import take_again
from explorer.measure.interpreted_launches import on_the_processor
from explorer.measure.interpreter import Interpretation, interpret
from explorer.measure.reference import find_references
from explorer.measure.reference_calls import ReferenceCall
from explorer.measure.snapshot import Snapshot, tensors_in
from explorer.measure.taking import Taken, Wanted
from explorer.measure.unset_memory import is_unset
from explorer.measurements import LaunchFacts, RunArgument
from explorer.measurements.limits import MOST_KINDS
from explorer.model import Diagnostic, Request, Run
from explorer.pipeline.arguments import describe_arguments
from explorer.pipeline.errors import user_error
from explorer.pipeline.module import FoundKernel
from explorer.pipeline.specialize import display_options
from explorer.pipeline.targets import Target

#: Says what is being done, and how much of it has been, 0 to 1.
Progress = Callable[[str, float], None]

#: What the programs of a launch may take in the interpreter; those beyond are not run.
INTERPRETER_SECONDS = 30.0
SECONDS_BETWEEN_PROGRESS = 0.5


@dataclass(frozen=True)
class Capturing:
    """What a launch is taken for, and from: the kernel, and the names of the script that runs now."""

    request: Request
    run: Run
    target: Target
    kernel: FoundKernel
    wanted: Wanted
    namespace: dict[str, Any]
    progress: Progress


class CapturedLaunch(ABC):
    """One launch. Made when the user's code is about to make it, before it has changed anything.

    `reference_call` is the script's own call of its function `reference`, if it has made one.
    """

    def __init__(self, taken: Taken, capturing: Capturing) -> None:
        self.taken = taken
        self.capturing = capturing
        self.namespace = capturing.namespace
        self.configs = capturing.kernel.info.configs
        self.facts = _facts(taken, capturing)
        self.reference_call: ReferenceCall | None = None
        names = [parameter.name for parameter in taken.launch.jit_function.params]
        self.arguments = dict(zip(names, taken.arguments, strict=True))
        self.tensors = tensors_in(names, taken.arguments)
        self.before = Snapshot(self.tensors)
        self.compiled: Any = None
        self.reference: Callable[[], object] | None = None

    def finish(self, reference_call: ReferenceCall | None) -> None:
        """Note, at the end of the script, how it has called its function `reference`."""
        self.reference_call = reference_call
        found = find_references(self)
        self.reference = None if isinstance(found, str) else found[0].as_written

    @abstractmethod
    def run(self, config: int | None = None) -> None:
        """Launch once, asynchronously, on whatever the tensors hold now."""

    @abstractmethod
    def run_anew(self) -> None:
        """Launch once what the compiler makes of the kernel now: it is told to add something to it."""

    @abstractmethod
    def results(self) -> dict[str, torch.Tensor]:
        """Return what the tensors hold after one launch on what they held before the first."""

    @abstractmethod
    def written(self, name: str) -> torch.Tensor | None:
        """Tell which elements of a tensor one launch writes; None where it is not known."""

    @abstractmethod
    def unset_inputs(self) -> list[Diagnostic]:
        """Say what the kernel is given and nothing has set: `torch.empty` sets nothing."""

    @abstractmethod
    def as_the_script(self) -> AbstractContextManager[None]:
        """A context in which code of the user's runs as it did in the script."""

    def restore(self) -> None:
        """Give all tensors the values back that they had before the first launch."""
        self.before.restore()


class GpuLaunch(CapturedLaunch):
    """A launch on the GPU: that of the compiled kernel itself, without what is around it in the script."""

    def __init__(self, taken: Taken, capturing: Capturing) -> None:
        super().__init__(taken, capturing)
        self.compiled = taken.compiled
        self._by_config: dict[int | None, Taken] = {None: taken, taken.launch.config: taken}

    def run(self, config: int | None = None) -> None:
        if config not in self._by_config:
            self._by_config[config] = self._take_again(config)
        taken = self._by_config[config]
        self.compiled = taken.compiled
        taken.compiled[taken.grid](*taken.arguments)

    def run_anew(self) -> None:
        self.compiled = self._take_again(self.facts.config).compiled

    def _take_again(self, config: int | None) -> Taken:
        """Make the call again, through the just-in-time compiler; return what it comes to."""
        return take_again(self.taken, dataclasses.replace(self.capturing.wanted, index=None, config=config))

    def results(self) -> dict[str, torch.Tensor]:
        self.restore()
        self.run()
        torch.cuda.synchronize()
        return self.tensors

    def written(self, name: str) -> torch.Tensor | None:  # noqa: ARG002
        return None

    def unset_inputs(self) -> list[Diagnostic]:
        """Nothing says what it reads: these are the tensors that are not written by it either."""
        return [
            _unset(f"Nothing has set {name}, neither before the launch nor after", self.facts.line)
            for name, tensor in self.tensors.items()
            if is_unset(tensor) and is_unset(self.before.of(tensor))
        ]

    def as_the_script(self) -> AbstractContextManager[None]:
        return contextlib.nullcontext()


class InterpretedLaunch(CapturedLaunch):
    """A launch in the interpreter, whose first one is counted. `interpretation` is how much of it was run."""

    def __init__(self, taken: Taken, capturing: Capturing) -> None:
        super().__init__(taken, capturing)
        self.counter = Counter(self.tensors)
        self.interpretation = Interpretation(0, 0)
        self._after = self.before

    def run_first(self) -> None:
        """Run and count; must be called once, on what the tensors held before."""
        programs = math.prod(self.taken.grid)
        start = told = time.monotonic()
        done = 0

        @contextlib.contextmanager
        def program() -> Iterator[None]:
            nonlocal done, told
            with self.counter.program():
                yield
            done += 1
            now = time.monotonic()
            if now - told > SECONDS_BETWEEN_PROGRESS:
                told = now
                share = max(done / programs, (now - start) / INTERPRETER_SECONDS)
                self.capturing.progress(f"Interpreting: {done:,} of {programs:,} programs", share)

        with torch._C.DisableTorchFunction(), self.counter.counting():
            self.interpretation = interpret(
                self.taken.launch.jit_function,
                self.taken.grid,
                self.taken.arguments,
                seconds=INTERPRETER_SECONDS,
                around_program=program,
            )
            self._after = Snapshot(self.tensors)

    def run(self, config: int | None = None) -> None:
        if config not in (None, self.taken.launch.config):
            raise user_error("The interpreter runs one configuration.", self.facts.line)
        interpret(self.taken.launch.jit_function, self.taken.grid, self.taken.arguments)

    def run_anew(self) -> None:
        raise user_error("The interpreter compiles nothing.", self.facts.line)

    def results(self) -> dict[str, torch.Tensor]:
        return {name: self._after.of(tensor) for name, tensor in self.tensors.items()}

    def written(self, name: str) -> torch.Tensor | None:
        return self.counter.written(self.tensors[name])

    def unset_inputs(self) -> list[Diagnostic]:
        return [
            _unset(
                f"The kernel reads {count:,} {'element' if count == 1 else 'elements'} of {name} "
                "that nothing has set",
                line,
            )
            for (line, name), count in sorted(self.counter.unset_reads.items())
        ]

    def as_the_script(self) -> AbstractContextManager[None]:
        return on_the_processor(self.capturing.target)


def _unset(what: str, line: int) -> Diagnostic:
    return Diagnostic(
        "warning",
        f"{what}: torch.empty leaves memory as it is.",
        line=line,
        hint="Here it holds NaN, or -1. Set it before: torch.zeros, torch.randn.",
    )


def _facts(taken: Taken, capturing: Capturing) -> LaunchFacts:
    bound = {
        parameter.name: value
        for parameter, value in zip(taken.launch.jit_function.params, taken.arguments, strict=True)
    }
    launch = dataclasses.replace(taken.launch, bound_arguments=bound)
    arguments = tuple(
        RunArgument(argument.name, argument.type, argument.value, argument.shape, argument.strides)
        for argument in describe_arguments(launch)
    )
    return LaunchFacts(
        launch.jit_function.__name__,
        launch.line or capturing.kernel.info.line,
        taken.grid,
        arguments,
        launch.config,
        display_options(launch.options, capturing.request),
        _stated(taken, bound),
    )


def _stated(taken: Taken, bound: dict[str, Any]) -> dict[str, float]:
    """Ask the kernel's own `launch_metadata` what it says of the launch."""
    function = taken.launch.jit_function.launch_metadata
    if function is None:
        return {}
    metadata = getattr(taken.compiled, "metadata", SimpleNamespace())
    stated = function(taken.grid, metadata, bound) or {}
    numbers = {
        str(name): float(value)
        for name, value in stated.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    }
    return dict(list(numbers.items())[:MOST_KINDS])
