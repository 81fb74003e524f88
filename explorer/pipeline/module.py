"""Finds the kernels and the launches of the user's source.

In: a source and a target. Out: the kernels that the source defines, the launches that executing it makes, and
diagnostics, with the Python objects that compiling needs.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from triton.runtime import driver
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from explorer.model import AssumedNumber, Diagnostic, Kernel, Launch, OutputCode
from explorer.model.hardware import Target
from explorer.pipeline import user_source
from explorer.pipeline.arguments import describe_arguments, shown_options, to_scalar
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.fake_gpu import (
    CompiledProgram,
    RecordedLaunch,
    Recorder,
    default_device,
    fake_gpu,
    helion,
    inductor,
)
from explorer.pipeline.fake_gpu.driver import FakeDriver
from explorer.pipeline.functions import definition_line, file_of
from explorer.pipeline.guesses import Guesser
from explorer.pipeline.output_code import graph_nodes, output_code
from explorer.pipeline.parameters import describe_kernel, helper_names, returns_value
from explorer.pipeline.pasted import find_code
from explorer.pipeline.script import Script, describe
from explorer.pipeline.usage import find_usage
from explorer.pipeline.user_source import SOURCE_FILE

#: The most assumed numbers that are listed.
MOST_ASSUMED = 100

#: The note about operations that have several implementations.
UNMEASURED = (
    "torch.compile chooses implementations by measuring them, which needs a GPU. Here it takes the template "
    "of Triton with the largest tile that fits into shared memory."
)


#: The note about kernels of Helion whose configuration is not in the program.
UNTUNED = (
    "Helion chooses configurations by measuring them, which needs a GPU. Here a kernel has the first "
    "configuration of its decorator, or the default of Helion."
)
UNTUNED_HINT = "Write the configuration into the decorator: @helion.kernel(config=helion.Config(…))."

#: The note about a program of Helion with kernels of Triton.
OWN_KERNELS = (
    "The program also launches Triton kernels of its own, which are not among the kernels of Helion."
)
OWN_KERNELS_HINT = "Compile a script that has these kernels and does not import Helion."

#: The note about a program that does not use the GPU, for which PyTorch's compiler would write C++.
ON_CPU = "The program compiles for the CPU. It is executed with the GPU as the default device."
ON_CPU_HINT = 'Write device="cuda", or torch.set_default_device("cuda"), to choose it.'


@dataclass(frozen=True)
class FoundKernel:
    """A kernel and its objects. `interface` is the object of its outermost decorator."""

    info: Kernel
    jit_function: Any
    interface: Any
    guesser: Guesser
    autotuner: Any = None


@dataclass(frozen=True)
class FoundLaunch:
    """A launch, with the arguments as the just-in-time compiler specialized them."""

    info: Launch
    kernel: FoundKernel
    recorded: RecordedLaunch


@dataclass
class SourceContents:
    """The contents of a source. `namespace` has its global names, `output` what it printed.

    `reads_target`: the script may do something else on another GPU of the vendor.
    """

    kernels: list[FoundKernel] = field(default_factory=list)
    launches: list[FoundLaunch] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    assumed: tuple[AssumedNumber, ...] = ()
    namespace: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    output_code: OutputCode | None = None
    reads_target: bool = True

    @property
    def is_torch_program(self) -> bool:
        """Whether the script runs without errors, and `torch.compile` or Helion writes all of its kernels."""
        has_error = any(each.severity == "error" for each in self.diagnostics)
        return not self.kernels and self.output_code is not None and not has_error


def load(
    source: str,
    target: Target,
    files: Mapping[str, str] | None = None,
    path: str = "",
    assumed: Mapping[str, int] | None = None,
    arguments: str = "",
    report: Callable[[str], None] = lambda _text: None,
) -> SourceContents:
    """Execute `source` as a script against a fake GPU of `target`.

    `files` are the texts of the files that the script may import, by their paths, and `path` is the path of
    the script. `assumed` are numbers that replace values read from tensors without content, by places.
    `arguments` are the arguments of the script, written as in a shell.

    A script without a kernel that calls `torch.compile` is executed again, with PyTorch's compiler, for
    `output_code`, and once more with the GPU as the default device if it compiles for the CPU. A script that
    imports Helion, which is installed, is executed with both compilers at once. `report` is called with the
    compiler's progress.

    Errors in the source raise no exception. They are in `diagnostics`.
    """
    code = find_code(user_source.normalize(source))
    program = CompiledProgram(report=report, uses_helion=helion.is_program(code.script, files or {}))
    if not program.uses_helion:
        found, recorder = _execute(source, target, files, path, assumed, arguments)
        if found.kernels or recorder is None or not recorder.has_compiled_functions:
            return found
    found, recorder = _execute(source, target, files, path, assumed, arguments, program)
    if program.uses_helion and not program.graphs:
        own, _ = _execute(source, target, files, path, assumed, arguments)
        if own.kernels:
            return own
    if program.uses_helion and recorder is not None and _has_own_kernels(recorder):
        found.diagnostics.append(Diagnostic("note", OWN_KERNELS, hint=OWN_KERNELS_HINT))
    if program.is_for_cpu and not program.graphs:
        program = CompiledProgram(report=report, uses_helion=program.uses_helion)
        found, _ = _execute(source, target, files, path, assumed, arguments, program, uses_gpu=True)
        if program.graphs:
            found.diagnostics.append(Diagnostic("note", ON_CPU, hint=ON_CPU_HINT))
    for name, error in program.failures:
        message = f"{name} is executed without torch.compile, which fails here: {describe(error)}"
        found.diagnostics.append(Diagnostic("warning", message))
    if program.unmeasured:
        found.diagnostics.append(Diagnostic("note", UNMEASURED))
    if program.untuned:
        found.diagnostics.append(Diagnostic("note", UNTUNED, hint=UNTUNED_HINT))
    found.output_code = output_code(program, code.text, path, files or {})
    return found


def _has_own_kernels(recorder: Recorder) -> bool:
    """Return whether the script has launched a kernel that it defines itself."""
    return any(file_of(launch.jit_function) == SOURCE_FILE for launch in recorder.launches)


def _execute(
    source: str,
    target: Target,
    files: Mapping[str, str] | None,
    path: str,
    assumed: Mapping[str, int] | None,
    arguments: str,
    program: CompiledProgram | None = None,
    *,
    uses_gpu: bool = False,
) -> tuple[SourceContents, Recorder | None]:
    """Execute a script. With `uses_gpu`, the GPU is the default device."""
    found = SourceContents()
    code = user_source.register_script(source, path, files, keeps_functions=program is not None)
    found.diagnostics += code.notes
    try:
        tree = user_source.parse(code.script)
    except UserError as error:
        found.diagnostics.append(error.diagnostic)
        return found, None
    uses_inductor = inductor.is_output_code(code.script)
    with fake_gpu(target, assumed, uses_inductor=uses_inductor, program=program) as recorder:
        all_files = {**(files or {}), **code.files}
        script = Script(
            tree,
            recorder,
            files=all_files,
            path=code.path or path,
            program=program,
            arguments=shlex.split(arguments),
        )
        with default_device("cuda") if uses_gpu else nullcontext():
            script.run()
        has_other_driver = not isinstance(driver.active, FakeDriver)
        found.reads_target = recorder.reads_target or has_other_driver or uses_inductor or program is not None
        inductor.record_unlaunched(recorder, list(script.namespace.values()))
    found.diagnostics += script.diagnostics
    found.assumed = tuple(recorder.assumed.values())[:MOST_ASSUMED]
    found.namespace, found.output = script.namespace, script.output.getvalue()
    try:
        if program is None:
            values = [value for names in script.all_names for value in names.values()]
            _collect(found, tree, values, recorder.launches)
    except UserError as error:
        found.diagnostics.append(error.diagnostic)
    return found, recorder


# --- describing the contents -------------------------------------------------------------------


def _collect(
    found: SourceContents, tree: ast.Module, values: list[Any], launches: list[RecordedLaunch]
) -> None:
    """Sort the kernels among the global `values` and of the launches by line, and describe both."""
    interfaces: dict[int, tuple[Any, Any]] = {}
    for value in values:
        jit_function = jit_function_of(value)
        if jit_function is not None and file_of(jit_function) == SOURCE_FILE:
            current = interfaces.get(id(jit_function))
            if current is None or current[1] is jit_function:
                interfaces[id(jit_function)] = (jit_function, value)
    launched = set()
    for launch in launches:
        launched.add(id(launch.jit_function))
        interface = launch.call.interface if launch.call is not None else launch.jit_function
        interfaces.setdefault(id(launch.jit_function), (launch.jit_function, interface))
    helpers = helper_names(tree) | {
        constant.__name__
        for launch in launches
        for constant in launch.constexprs.values()
        if isinstance(constant, JITFunction)
    }
    candidates = [
        entry
        for key, entry in interfaces.items()
        if key in launched
        or entry[0] is not entry[1]
        or not (entry[0].__name__ in helpers or returns_value(entry[0]))
    ] or list(interfaces.values())
    candidates.sort(key=lambda entry: definition_line(entry[0]))
    kernels = {}
    for jit_function, interface in candidates:
        autotuner = _autotuner_of(interface)
        preset = dict(autotuner.configs[0].kwargs) if autotuner is not None else {}
        guesser = Guesser(jit_function, find_usage(jit_function), preset, found.namespace)
        info = describe_kernel(jit_function, autotuner, definition_line(jit_function), guesser)
        info = replace(info, graph_nodes=graph_nodes(interface))
        kernels[id(jit_function)] = FoundKernel(info, jit_function, interface, guesser, autotuner)
    found.kernels = list(kernels.values())
    found.launches = [
        describe_launch(index, launch, kernels[id(launch.jit_function)])
        for index, launch in enumerate(launches)
    ]


def describe_launch(index: int, launch: RecordedLaunch, kernel: FoundKernel) -> FoundLaunch:
    """Return the launch with this number in the script, with its description."""
    info = Launch(
        index,
        kernel.info.name,
        launch.line,
        launch.grid,
        describe_arguments(launch),
        {name: to_scalar(value) for name, value in shown_options(launch.options).items()},
        launch.config,
    )
    return FoundLaunch(info, kernel, launch)


def jit_function_of(value: Any) -> Any:
    """Return the JITFunction under decorators such as `autotune`, or None."""
    for _ in range(16):
        if isinstance(value, JITFunction):
            return value
        if not hasattr(type(value), "run") or not hasattr(value, "fn"):
            return None
        value = value.fn
    return None


def _autotuner_of(interface: Any) -> Any:
    while not isinstance(interface, JITFunction):
        if isinstance(interface, Autotuner) or hasattr(interface, "configs"):
            for config in interface.configs:
                if not hasattr(config, "kwargs"):
                    message = f"An autotune configuration must be a triton.Config, got {str(config)[:50]}."
                    raise user_error(message, definition_line(jit_function_of(interface)))
            return interface
        interface = interface.fn
    return None
