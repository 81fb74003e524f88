"""Executes the user's code and captures the launch that a request names.

In: a request and its run. Out: the launch, ready to be made again. The script's output and errors are
emitted.
"""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager

import torch
from triton import runtime as triton_runtime

from explorer.model import Log, Request, Run
from explorer.model.hardware import Target
from explorer.pipeline import user_source
from explorer.pipeline.error_events import Emit
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.fake_gpu.inductor import is_output_code
from explorer.pipeline.module import FoundKernel, SourceContents, load
from explorer.pipeline.script import Script
from explorer.pipeline.specialize import (
    check_config,
    check_options,
    choose_kernel,
    choose_launch,
)
from explorer.runner.error_hints import explain
from explorer.runner.interpreter.interpreted_launches import interpreting
from explorer.runner.launch import benchmark, inputs
from explorer.runner.launch.captured_launch import (
    CaptureContext,
    CapturedLaunch,
    GpuLaunch,
    InterpretedLaunch,
    Progress,
)
from explorer.runner.launch.gpu_launches import launching_on_gpu
from explorer.runner.launch.reference import find_references
from explorer.runner.launch.reference_calls import WATCHING, ReferenceCall, ReferenceWatch, watch
from explorer.runner.launch.saved_tensors import tensors_in
from explorer.runner.launch.select_launch import LaunchSelector, SelectedLaunch, WantedLaunch
from explorer.runner.launch.uninitialized_memory import fill_uninitialized

#: The `__name__` of the script if only its definitions are needed, not its main part.
DEFINITIONS_ONLY = "kernel"


def capture(request: Request, run: Run, target: Target, emit: Emit, progress: Progress) -> CapturedLaunch:
    """Capture the launch. Raise UserError if there is none."""
    kernel, wanted = choose(request, run, target)
    capture_context = _Capture(request, run, target, kernel, wanted, progress)
    selector = capture_context.run_script()
    script = capture_context.script
    if script.output.getvalue():
        emit(Log("stdout", script.output.getvalue()))
    problems = [explain(diagnostic, run.device) for diagnostic in script.diagnostics]
    if capture_context.launch is None or not selector.has_launched:
        for problem in problems:
            if problem.severity == "error":
                raise UserError(problem)
        raise user_error(
            f"{wanted.kernel} was not launched.",
            kernel.info.line,
            "The script made other launches than on the fake GPU, where it was compiled.",
        )
    for problem in problems:
        emit(problem)
    for diagnostic in capture_context.launch.uninitialized_inputs():
        emit(diagnostic)
    _set_reference(capture_context.launch, capture_context.reference_call)
    return capture_context.launch


def _set_reference(launch: CapturedLaunch, call: ReferenceCall | None) -> None:
    launch.reference_call = call
    references = find_references(launch)
    launch.reference = None if isinstance(references, str) else references[0].as_written


def choose(request: Request, run: Run, target: Target) -> tuple[FoundKernel, WantedLaunch]:
    """Return the launch to capture, from the launches that the script makes on a fake GPU."""
    if is_output_code(request.source) and (run.device == "interpreter" or not run.inputs):
        raise user_error(
            "A run cannot launch the kernels of output code: PyTorch's compiler launches them itself.",
            hint="Compile them. To measure one, launch it from a script with kernel[grid](…).",
        )
    found = load(
        request.source, target, request.files, request.path, request.assumed, request.script_arguments
    )
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
    kernel = kernel or found.kernels[0]
    check_config(kernel, request.config)
    overrides = {**request.options, **({} if run.inputs else request.constants)}
    return kernel, WantedLaunch(kernel.info.name, index, request.config, overrides)


def _forget_defaults() -> None:
    """Restore the defaults of PyTorch that the script may have changed: it is executed again."""
    torch.set_default_device(None)
    torch.set_default_dtype(torch.float32)


def _refuse_without_launch(found: SourceContents, kernel: FoundKernel | None) -> None:
    for diagnostic in found.diagnostics:
        if diagnostic.severity == "error":
            raise UserError(diagnostic)
    if kernel is None and len(found.kernels) == 1:
        kernel = found.kernels[0]
    name = kernel.info.name if kernel is not None else "any kernel"
    raise user_error(
        f"The script does not launch {name}, so there is nothing to run.",
        kernel.info.line if kernel is not None else 0,
        "Add a launch to the source, or enter the inputs.",
    )


class _Capture:
    """One execution of the script."""

    def __init__(
        self,
        request: Request,
        run: Run,
        target: Target,
        kernel: FoundKernel,
        wanted: WantedLaunch,
        progress: Progress,
    ) -> None:
        self._request, self._run, self._target = request, run, target
        self._kernel, self._wanted, self._progress = kernel, wanted, progress
        self.script: Script
        self.launch: CapturedLaunch | None = None
        self.reference_call: ReferenceCall | None = None

    def run_script(self) -> LaunchSelector:
        """Execute the script, and then the benchmark or the inputs of `run`."""
        run = self._run
        request = self._request
        code = user_source.register_script(request.source, request.path, request.files)
        tree = watch(user_source.parse(code.script))
        starts = not (run.inputs or run.is_benchmark)
        with self._launching() as selector:
            reference = ReferenceWatch(lambda: selector.has_launched)
            name = "__main__" if starts else DEFINITIONS_ONLY
            files, path = {**request.files, **code.files}, code.path or request.path
            arguments = shlex.split(request.script_arguments)
            self.script = Script(tree, selector, name, files, path, arguments=arguments)
            self.script.namespace[WATCHING] = reference
            torch.manual_seed(run.seed)  # For scripts that draw random numbers without a seed.
            selector.is_open = starts
            self.script.run(goes_on=False)
            selector.is_open = True
            if run.inputs:
                self.script.call(lambda: inputs.launch(self._kernel, run, self.script.namespace))
            elif run.is_benchmark:
                names, kernel = self.script.namespace, self._wanted.kernel
                self.script.call(
                    lambda: benchmark.call_until(lambda: selector.has_launched, run, names, kernel)
                )
        self.reference_call = reference.call
        return selector

    def _launching(self) -> AbstractContextManager[LaunchSelector]:
        if self._run.device == "gpu":
            return launching_on_gpu(self._wanted, self._take)
        return interpreting(self._target, self._wanted, self._take, self._run_first)

    def _take(self, selected: SelectedLaunch) -> None:
        capture_context = CaptureContext(
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
            if self._run.original is not None:
                names = selected.launch.jit_function.arg_names
                fill_uninitialized(tensors_in(names, selected.arguments).values(), self._run.seed)
            self.launch = kind(selected, capture_context)

    def _run_first(self, _taken: SelectedLaunch) -> bool:
        assert isinstance(self.launch, InterpretedLaunch)
        self.launch.run_first()
        return self.launch.interpretation.is_whole
