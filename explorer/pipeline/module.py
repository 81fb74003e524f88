"""Turns the user's source into kernels and launches.

In: a source and a target. Out: the kernels that it defines, the launches that running it makes, and
what went wrong, each with the objects that compiling needs.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from explorer.model import Diagnostic, Kernel, Launch
from explorer.pipeline import user_source
from explorer.pipeline.arguments import describe_arguments, shown_options, to_scalar
from explorer.pipeline.errors import UserError
from explorer.pipeline.fake_gpu import RecordedLaunch, fake_gpu
from explorer.pipeline.functions import definition_line
from explorer.pipeline.parameters import describe_kernel, helper_names
from explorer.pipeline.script import Script
from explorer.pipeline.targets import Target
from explorer.pipeline.user_source import SOURCE_FILE


@dataclass(frozen=True)
class FoundKernel:
    """A kernel and its objects. `interface` is the outermost of its decorators' objects."""

    info: Kernel
    jit_function: Any
    interface: Any
    autotuner: Any = None


@dataclass(frozen=True)
class FoundLaunch:
    """A launch and what the just-in-time compiler made of its arguments."""

    info: Launch
    kernel: FoundKernel
    recorded: RecordedLaunch


@dataclass
class Found:
    """What a source holds. `namespace` holds its global names, `output` what running it has printed."""

    kernels: list[FoundKernel] = field(default_factory=list)
    launches: list[FoundLaunch] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    namespace: dict[str, Any] = field(default_factory=dict)
    output: str = ""


def load(source: str, target: Target) -> Found:
    """Run `source` as a script against a fake GPU of `target`.

    Raises nothing for what is wrong with the source: that is in `diagnostics`.
    """
    found = Found()
    source = user_source.normalize(source)
    try:
        tree = user_source.parse(source)
    except UserError as error:
        found.diagnostics.append(error.diagnostic)
        return found
    user_source.register(source)
    with fake_gpu(target) as recorder:
        script = Script(tree, recorder)
        script.run()
    found.diagnostics += script.diagnostics
    found.namespace, found.output = script.namespace, script.output.getvalue()
    _collect(found, tree, recorder.launches)
    return found


# --- what was found ---------------------------------------------------------------------------


def _collect(found: Found, tree: ast.Module, launches: list[RecordedLaunch]) -> None:
    """Order the kernels of the namespace and of the launches by line, and describe both."""
    interfaces: dict[int, tuple[Any, Any]] = {}
    for value in list(found.namespace.values()):
        jit_function = jit_function_of(value)
        if jit_function is not None and jit_function.fn.__code__.co_filename == SOURCE_FILE:
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
        if key in launched or entry[0].__name__ not in helpers or entry[0] is not entry[1]
    ] or list(interfaces.values())
    candidates.sort(key=lambda entry: definition_line(entry[0]))
    kernels = {}
    for jit_function, interface in candidates:
        autotuner = _autotuner_of(interface)
        info = describe_kernel(jit_function, autotuner, definition_line(jit_function))
        kernels[id(jit_function)] = FoundKernel(info, jit_function, interface, autotuner)
    found.kernels = list(kernels.values())
    found.launches = [
        _describe_launch(index, launch, kernels[id(launch.jit_function)])
        for index, launch in enumerate(launches)
    ]


def _describe_launch(index: int, launch: RecordedLaunch, kernel: FoundKernel) -> FoundLaunch:
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
    """Return the JITFunction under decorators such as `autotune`, None if there is none."""
    for _ in range(16):
        if isinstance(value, JITFunction):
            return value
        if not hasattr(type(value), "run") or not hasattr(value, "fn"):
            return None
        value = value.fn
    return None


def _autotuner_of(interface: Any) -> Any:
    while not isinstance(interface, JITFunction):
        if isinstance(interface, Autotuner):
            return interface
        interface = interface.fn
    return None
