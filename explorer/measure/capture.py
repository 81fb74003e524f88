"""Runs the user's code for real and takes the launch out of it that a request names.

In: a request and its run. Out: the launch, ready to be made again; what the script prints and what goes
wrong in it is told on the way.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from triton import runtime as triton_runtime

from explorer.measure import benchmark, inputs
from explorer.measure.bench import Emit
from explorer.measure.captured import CapturedLaunch, Capturing, GpuLaunch, InterpretedLaunch, Progress
from explorer.measure.gpu_launches import launching_on_gpu
from explorer.measure.interpreted_launches import interpreting
from explorer.measure.reference_calls import WATCHING, ReferenceCall, ReferenceWatch, watch
from explorer.measure.taking import Taken, Taker, Wanted
from explorer.measure.troubles import explain
from explorer.model import Log, Request, Run
from explorer.pipeline import user_source
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.module import Found, FoundKernel, load
from explorer.pipeline.script import Script
from explorer.pipeline.specialize import (
    check_config,
    check_options,
    choose_kernel,
    choose_launch,
    only_kernel,
)
from explorer.pipeline.targets import Target

#: The name of the module where only definitions of the script are needed, not what it does when started.
DEFINITIONS_ONLY = "kernel"


def capture(request: Request, run: Run, target: Target, emit: Emit, progress: Progress) -> CapturedLaunch:
    """Take the launch. Raises UserError where there is none to take."""
    kernel, wanted = choose(request, run, target)
    capturing = _Capture(request, run, target, kernel, wanted, progress)
    taker = capturing.run_script()
    script = capturing.script
    if script.output.getvalue():
        emit(Log("stdout", script.output.getvalue()))
    problems = [explain(diagnostic, run.device) for diagnostic in script.diagnostics]
    if capturing.launch is None or not taker.has_launched:
        for problem in problems:
            if problem.severity == "error":
                raise UserError(problem)
        raise user_error(
            f"{wanted.kernel} was not launched.",
            kernel.info.line,
            "The script has made other launches than when it was compiled, where nothing is computed.",
        )
    for problem in problems:
        emit(problem)
    for diagnostic in capturing.launch.unset_inputs():
        emit(diagnostic)
    capturing.launch.finish(capturing.reference_call)
    return capturing.launch


def choose(request: Request, run: Run, target: Target) -> tuple[FoundKernel, Wanted]:
    """Decide which launch is wanted, by what the script launches when nothing is computed."""
    found = load(request.source, target)
    _forget_defaults()
    if run.device == "gpu":
        triton_runtime.driver.reset_active()
    kernel = choose_kernel(found, request)
    check_options(request, target)
    index = None
    if not run.inputs:
        launch = choose_launch(found, request, kernel) if request.arguments is None else None
        if launch is not None:
            kernel = launch.kernel
            index = None if run.is_benchmark else launch.info.index
        elif not run.is_benchmark:
            _refuse_without_launch(found, kernel)
    kernel = kernel or only_kernel(found)
    check_config(kernel, request.config)
    return kernel, Wanted(kernel.info.name, index, request.config, dict(request.options))


def _forget_defaults() -> None:
    """Put back what the script may have set for all of PyTorch: it is going to run once more."""
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)


def _refuse_without_launch(found: Found, kernel: FoundKernel | None) -> None:
    for diagnostic in found.diagnostics:
        if diagnostic.severity == "error":
            raise UserError(diagnostic)
    if kernel is None and len(found.kernels) == 1:
        kernel = found.kernels[0]
    name = kernel.info.name if kernel is not None else "any kernel"
    raise user_error(
        f"The script does not launch {name}: there is nothing to run.",
        kernel.info.line if kernel is not None else 0,
        "Add a launch to the source, or say what the inputs are.",
    )


class _Capture:
    """One script at work."""

    def __init__(
        self,
        request: Request,
        run: Run,
        target: Target,
        kernel: FoundKernel,
        wanted: Wanted,
        progress: Progress,
    ) -> None:
        self._request, self._run, self._target = request, run, target
        self._kernel, self._wanted, self._progress = kernel, wanted, progress
        self.script: Script
        self.launch: CapturedLaunch | None = None
        self.reference_call: ReferenceCall | None = None

    def run_script(self) -> Taker:
        """Run the script, and then what `run` asks for beyond."""
        run = self._run
        source = user_source.normalize(self._request.source)
        tree = watch(user_source.parse(source))
        user_source.register(source)
        starts = not (run.inputs or run.is_benchmark)
        with self._launching() as taker:
            reference = ReferenceWatch(lambda: taker.has_launched)
            self.script = Script(tree, taker, "__main__" if starts else DEFINITIONS_ONLY)
            self.script.namespace[WATCHING] = reference
            torch.manual_seed(run.seed)  # for scripts that draw without a seed of their own
            taker.is_open = starts
            self.script.run(goes_on=False)
            taker.is_open = True
            if run.inputs:
                self.script.call(lambda: inputs.launch(self._kernel, run, self.script.namespace))
            elif run.is_benchmark:
                names, kernel = self.script.namespace, self._wanted.kernel
                self.script.call(lambda: benchmark.call_until(lambda: taker.has_launched, run, names, kernel))
        self.reference_call = reference.call
        return taker

    def _launching(self) -> AbstractContextManager[Taker]:
        if self._run.device == "gpu":
            return launching_on_gpu(self._wanted, self._take)
        return interpreting(self._target, self._wanted, self._take, self._run_first)

    def _take(self, taken: Taken) -> None:
        capturing = Capturing(
            self._request,
            self._run,
            self._target,
            self._kernel,
            self._wanted,
            self.script.namespace,
            self._progress,
        )
        kind = GpuLaunch if self._run.device == "gpu" else InterpretedLaunch
        with torch._C.DisableTorchFunction():
            self.launch = kind(taken, capturing)

    def _run_first(self, _taken: Taken) -> bool:
        assert isinstance(self.launch, InterpretedLaunch)
        self.launch.run_first()
        return self.launch.interpretation.is_whole
