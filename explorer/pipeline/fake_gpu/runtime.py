"""Records the launches of the user's code, in place of compiling and launching.

Triton's own binder and specialization run unchanged. The replaced `JITFunction._do_compile` records the
result. Source: triton/runtime/jit.py and autotuner.py, 3.6.0 and 3.9.0.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import compiler
from triton.compiler.compiler import ASTSource, make_backend
from triton.experimental.gluon._runtime import GluonASTSource
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction

from explorer.model import AssumedNumber
from explorer.model.hardware import THREADS_PER_BLOCK
from explorer.pipeline.errors import NeedsValue
from explorer.pipeline.import_stubs import (
    ImportStub,
    NeedsModule,
    absent_sources,
    note_absent_source,
    without_stubs,
)
from explorer.pipeline.stages.sass import disassemble
from explorer.pipeline.user_source import user_line

_compile = compiler.compile


class TooManyLaunches(BaseException):
    """The program makes more different launches than are recorded."""


@dataclass(frozen=True)
class Call:
    """A call of a kernel as the user wrote it, which can be repeated with other options."""

    interface: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]

    def make(self) -> Any:
        return self.interface.run(*self.arguments, **self.keywords)


@dataclass
class RecordedLaunch:
    """One kernel with one specialization, as the just-in-time compiler would compile it."""

    jit_function: Any
    signature: dict[str, Any]
    constexprs: dict[tuple[int, ...], Any]
    attrs: dict[tuple[int, ...], Any]
    options: dict[str, Any]
    bound_arguments: dict[str, Any]
    call: Call | None
    line: int
    grid: tuple[int, ...] | None = None
    config: int | None = None

    @property
    def is_debugged(self) -> bool:
        """Whether the kernel checks its assertions."""
        return bool(self.options.get("debug"))


@dataclass
class Recorder:
    """Collects launches. With `config` or `overrides`, calls are made as if the user had specified these."""

    target: GPUTarget
    limit: int = 64
    config: int | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    launches: list[RecordedLaunch] = field(default_factory=list)
    #: The numbers that were assumed because only a GPU could compute them, by places.
    assumed: dict[str, AssumedNumber] = field(default_factory=dict)
    #: Called with the arguments of each launch, among them tensors that the kernel may write.
    note_written: Callable[[list[Any]], None] = lambda _values: None
    #: Whether the program calls `torch.compile`.
    has_compiled_functions: bool = False
    #: Whether the program has asked for the GPU, so that it may do something else for another GPU.
    reads_target: bool = False
    _seen: dict[Any, FakeKernel] = field(default_factory=dict)
    _call: Call | None = None
    _bound: dict[str, Any] = field(default_factory=dict)
    _config_index: int | None = None

    @property
    def is_calling(self) -> bool:
        """Whether a call of a kernel is being executed."""
        return self._call is not None

    @property
    def interface(self) -> Any:
        """The object that is being launched: a kernel, or the outermost of its decorators."""
        return self._call.interface if self._call is not None else None

    def call(
        self, interface: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], run: Callable[[], Any]
    ) -> Any:
        """Execute a call by `run`, and store the outermost current call, which can be repeated."""
        if self._call is not None:
            return run()
        self._call = Call(interface, arguments, dict(keywords))
        try:
            return run()
        except BaseException as error:
            self.note_target_read()  # The target's compiler may have refused the options.
            if isinstance(error, NeedsValue):
                error.stops_launch = True
            raise
        finally:
            self._call = self._config_index = None

    def record(
        self,
        jit_function: Any,
        key: Any,
        signature: dict[str, Any],
        constexprs: dict[tuple[int, ...], Any],
        attrs: dict[tuple[int, ...], Any],
        options: dict[str, Any],
        bound_arguments: dict[str, Any],
    ) -> FakeKernel:
        """Return the replacement of the compiled kernel. Equal specializations are recorded once."""
        identity = (id(jit_function), key)
        kernel = self._seen.get(identity)
        if kernel is None:
            if len(self.launches) >= self.limit:
                raise TooManyLaunches
            launch = RecordedLaunch(
                jit_function, signature, constexprs, attrs, options, bound_arguments,
                self._call, user_line(), config=self._config_index,
            )  # fmt: skip
            self.launches.append(launch)
            kernel = self._seen[identity] = self.make_kernel(launch)
        return kernel

    def note_target_read(self) -> None:
        """Note that the program depends on the target."""
        self.reads_target = True

    def make_kernel(self, launch: RecordedLaunch) -> FakeKernel:
        """Create the replacement of the compiled kernel of a launch just recorded."""
        return FakeKernel(self, launch)


class FakeKernel:
    """Replaces a compiled kernel: launching it records the grid."""

    #: Plausible values for scripts that compute an occupancy from them before they launch.
    n_regs = 32
    n_spills = 0
    n_max_threads = THREADS_PER_BLOCK
    shared_bytes = 1024

    def __init__(self, recorder: Recorder, launch: RecordedLaunch) -> None:
        self._recorder = recorder
        self._launch = launch
        self.name = launch.jit_function.__name__
        self.src = SimpleNamespace(
            fn=launch.jit_function,
            signature=launch.signature,
            constants=launch.constexprs,
            attrs=launch.attrs,
        )
        self.packed_metadata = ()
        self.hash = ""
        self.module = self.function = 1
        self.asm = _LazyAssembly(launch, recorder)

    @functools.cached_property
    def metadata(self) -> SimpleNamespace:
        """The options that the kernel is compiled with."""
        self._recorder.note_target_read()
        return SimpleNamespace(
            **{**self._launch.options, "shared": self.shared_bytes, "name": self.name, "tmem_size": 0,
               "global_scratch_size": 0, "global_scratch_align": 1,
               "warp_size": self._recorder.target.warp_size}
        )  # fmt: skip

    def _init_handles(self) -> None:
        """Accept: there is nothing to load."""

    def launch_metadata(self, grid: tuple[Any, ...], _stream: object, *_arguments: Any) -> None:
        self._note_grid(grid)

    def run(self, *_arguments: Any) -> None:
        """Accept a launch."""

    def __getitem__(self, grid: tuple[Any, ...]) -> Callable[..., None]:
        def launch(*_arguments: Any, stream: object = None) -> None:  # noqa: ARG001  Triton's parameter
            self._note_grid(grid)

        return launch

    def _note_grid(self, grid: tuple[Any, ...]) -> None:
        if self._launch.grid is None:
            self._launch.grid = tuple(int(size) for size in grid)
            self._launch.line = user_line() or self._launch.line


class _LazyAssembly(dict[str, Any]):
    """The stages of a kernel, compiled on the first access of the user's code."""

    def __init__(self, launch: RecordedLaunch, recorder: Recorder) -> None:
        super().__init__()
        self._launch = launch
        self._recorder = recorder

    def __missing__(self, stage: str) -> Any:
        self._recorder.note_target_read()
        if stage == "sass":  # Triton would start a tool that crashes under a limit of the address space.
            self[stage] = disassemble(self["cubin"])
            return self[stage]
        launch = self._launch
        source_class = GluonASTSource if launch.jit_function.is_gluon() else ASTSource
        source = source_class(launch.jit_function, launch.signature, launch.constexprs, launch.attrs)
        compiled = _compile(source, target=self._recorder.target, options=launch.options)
        self.update(compiled.asm)
        return compiled.asm[stage]


def replacements(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """List (object, attribute, replacement) for the parts of Triton that launch and compile."""
    return [*calls(recorder), *compiles(recorder)]


def calls(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """List the replacements for the functions that launch a kernel."""
    run_kernel, run_heuristics, call = JITFunction.run, Heuristics.run, JITFunction.__call__

    def run_jit_function(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        names = self.arg_names[: len(args)]

        def run() -> Any:
            overrides = recorder.overrides  # a selector sets them for a second attempt
            values = (*map(overrides.get, names, args), *args[len(names) :])
            named = {**kwargs, **{name: value for name, value in overrides.items() if name not in names}}
            values, named = without_stubs(self, values, named)
            recorder.note_written([*values, *named.values()])
            try:
                return run_kernel(self, *values, grid=grid, warmup=warmup, **named)
            except TypeError as error:
                raise _in_the_users_words(error, self, named, recorder.interface) from None

        return recorder.call(self, args, {"grid": grid, "warmup": warmup, **kwargs}, run)

    def run_with_heuristics(self: Any, *args: Any, **kwargs: Any) -> Any:
        def run() -> Any:
            try:
                return run_heuristics(self, *args, **kwargs)
            except KeyError as error:
                sources = absent_sources(recorder.interface)
                if sources and error.args[0] in self.arg_names:
                    missing = f"There is no value of {error}. {' or '.join(sources)} would give it, and is"
                    raise TypeError(f"{missing} not available").with_traceback(error.__traceback__) from None
                raise

        return recorder.call(self, args, kwargs, run)

    def run_autotuner(self: Any, *args: Any, **kwargs: Any) -> Any:
        return recorder.call(self, args, kwargs, lambda: _run_one_config(recorder, self, args, kwargs))

    def noting_source(initialize: Callable[..., None]) -> Callable[..., None]:
        """Return the `__init__` of a decorator that notes configurations of a missing module."""

        def decorate(self: Any, fn: Any, arg_names: Any, values: Any, *args: Any, **kwargs: Any) -> None:
            note_absent_source(self, values)
            initialize(self, fn, arg_names, values, *args, **kwargs)

        return decorate

    def call_without_grid(self: Any, *args: Any, **kwargs: Any) -> Any:
        if sources := absent_sources(self):
            allowed = f"{sources[0]} is not available, and would allow it"
            error = NeedsModule(f"{self.__name__} is called without a grid. {allowed}.")
            error.stops_launch = True
            raise error
        return call(self, *args, **kwargs)

    return [
        (JITFunction, "run", run_jit_function),
        (JITFunction, "__call__", call_without_grid),
        (Autotuner, "__init__", noting_source(Autotuner.__init__)),
        (Heuristics, "__init__", noting_source(Heuristics.__init__)),
        (Heuristics, "run", run_with_heuristics),
        (Autotuner, "run", run_autotuner),
        (Autotuner, "warmup", lambda self, *args, **kwargs: [_warm_up_autotuner(self, args, kwargs)]),
    ]


def compiles(recorder: Recorder) -> list[tuple[Any, str, Any]]:
    """List the replacements for the functions that compile a kernel."""

    def do_compile(
        self: Any,
        key: Any,
        signature: Any,
        _device: Any,
        constexprs: Any,
        options: Any,
        attrs: Any,
        _warmup: Any,
    ) -> FakeKernel:
        bound = bound_arguments(sys._getframe(1))
        return recorder.record(self, key, signature, constexprs, attrs, dict(options.__dict__), bound)

    def compile_source(src: Any, target: Any = None, options: Any = None, **_rest: Any) -> Any:
        if not isinstance(src, ASTSource):
            return _compile(src, target=target, options=options)
        return record_source(recorder, src, target or driver.active.get_current_target(), options or {}, {})

    return [
        # A script for Triton's interpreter is compiled like any other script.
        (knobs.runtime, "interpret", False),
        *((module, "compile", compile_source) for module in (triton, triton.compiler, compiler)),
        (JITFunction, "_do_compile", do_compile),
    ]


def record_source(
    recorder: Recorder, src: Any, target: GPUTarget, options: dict[str, Any], bound: dict[str, Any]
) -> FakeKernel:
    """Record the argument of `triton.compile`: a function with its specialization."""
    parsed = make_backend(target).parse_options({**options, **src.parse_options()})
    key = (str(src.signature), str(src.constants), str(src.attrs), str(options))
    return recorder.record(src.fn, key, src.signature, src.constants, src.attrs, dict(parsed.__dict__), bound)


def _in_the_users_words(error: TypeError, kernel: Any, named: dict[str, Any], interface: Any) -> TypeError:
    """Return the kernel's name in place of the function that Triton generates to bind arguments.

    `interface` is the object that was launched.

    Triton looks for names that are neither arguments nor options only after it has bound the arguments.
    """
    text = str(error).replace("dynamic_func()", f"{kernel.__name__}()")
    options = make_backend(driver.active.get_current_target()).parse_options({}).__dict__
    if others := [name for name in named if name not in kernel.arg_names and name not in options]:
        text += f". The kernel has no argument {' or '.join(map(repr, others))}"
    elif "missing" in text and (sources := absent_sources(interface)):
        text += f". {' or '.join(sources)} would give them, and is not available"
    return TypeError(text).with_traceback(error.__traceback__)


def _warm_up_autotuner(autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    from triton.runtime.jit import MockTensor

    return autotuner.run(*map(MockTensor.wrap_dtype, args), warmup=True, **kwargs)


def _run_one_config(recorder: Recorder, autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the requested configuration, or the first configuration that pruning leaves, without measuring."""
    config = choose_config(autotuner, recorder.config, args, kwargs)
    recorder._config_index = next(
        (index for index, candidate in enumerate(autotuner.configs) if candidate is config), None
    )
    autotuner.best_config = config
    if config.pre_hook is not None:
        config.pre_hook({**autotuner.nargs, **kwargs, **config.all_kwargs()})
    kernel = autotuner.fn.run(*args, **kwargs, **config.all_kwargs())
    autotuner.nargs = None
    return kernel


def choose_config(autotuner: Any, index: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a configuration by its index, or the first that pruning leaves for the arguments."""
    autotuner.nargs = dict(zip(autotuner.arg_names, args, strict=False))
    if index is not None:
        return autotuner.configs[index]
    if len(autotuner.configs) > 1:
        prune = autotuner.early_config_prune
        autotuner.early_config_prune = _unless_missing(prune) if prune else None
        try:
            return autotuner.prune_configs(kwargs)[0]
        finally:
            autotuner.early_config_prune = prune
    return autotuner.configs[0]


def _unless_missing(prune: Callable[..., Any]) -> Callable[..., Any]:
    """Return `prune` such that it keeps all configurations if a missing module has the choice."""

    def pruned(configs: list[Any], *arguments: Any, **named: Any) -> Any:
        chosen = prune(configs, *arguments, **named)
        return configs if isinstance(chosen, ImportStub) else chosen

    return pruned


def bound_arguments(frame: Any) -> dict[str, Any]:
    """Read the arguments by name from the frame of `JITFunction.run`, which does not pass them on."""
    bound: dict[str, Any] = frame.f_locals.get("bound_args", {})
    return bound
