"""Run the compiler's MLIR passes one at a time, and tell of each: its time, and the module after it.

Triton's backends collect passes by calling `passes.….add_*(pass_manager)` and then run them all. While a
`PassRecorder` is active, the backend's module sees proxies of `ir`, `passes` and its vendor's namespace:
an `add_*` call is only queued, and `run` gives each pass a real pass manager of its own.

Modules are printed with locations, which are then taken out: only so do values keep the names of the source.
Modules of the LLVM dialect take long to print (20 ms for 1.5 MB, after some of 70 passes). So from the
pass that makes them on, a forked copy of this process runs the same passes once more and prints, beside
the compile, which goes on without printing.

Source: `make_ttir`, `make_ttgir`, `make_llir` of triton.backends.{nvidia,amd}.compiler, 3.6 and 3.9.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import IO, Any

from explorer.model import Allocation, Diagnostic, Pass, Scalar
from explorer.pipeline.allocation import allocates_shared_memory, allocation_printed, read_allocations
from explorer.pipeline.stages.mlir import without_locations
from explorer.pipeline.targets import Target
from explorer.pipeline.tool_output import ToolOutput

#: One queued pass: the backend's name for it, the function that adds it, and its arguments.
_Queued = tuple[str, Callable[..., None], tuple[Any, ...]]

_PIPELINE = re.compile(r"^(?P<name>[\w.-]+)(?:\{(?P<options>.*)\})?$", re.DOTALL)
_TO_LLVM_DIALECT = "to_llvmir"


class PassFailed(RuntimeError):
    """A pass has failed; `name` and `title` are the pass's, the message the compiler's."""

    def __init__(self, name: str, title: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.title = title


class PassRecorder:
    """Tells of every pass that the target's backend runs while it is active.

    Set `stage` to the stage that is being made. Call `finish` at the end: it tells of the passes whose
    modules were printed beside the compile.
    """

    def __init__(
        self, target: Target, output: ToolOutput, emit: Callable[[Pass | Allocation | Diagnostic], None]
    ) -> None:
        self.stage = ""
        self._target = target
        self._output = output
        self._emit = emit
        self._count = 0
        self._text = ""
        self._shadow: _Shadow | None = None
        self._waiting: list[Pass] = []

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Put the proxies in place, and take them away again."""
        vendor = self._target.passes_namespace
        module = importlib.import_module(f"triton.backends.{vendor}.compiler")
        names = ("ir", "passes", vendor)
        real = {name: getattr(module, name) for name in names}
        proxies = {
            "ir": _IrProxy(real["ir"], self),
            "passes": _PassesProxy(real["passes"]),
            vendor: _PassesProxy(real[vendor]),
        }
        try:
            for name in names:
                setattr(module, name, proxies[name])
            yield
        finally:
            for name in names:
                setattr(module, name, real[name])

    def first(self, name: str, title: str, milliseconds: float, module: Any) -> None:
        """Tell of the step that made the module, before any pass."""
        self._tell(name, title, (), milliseconds, module)

    def run(self, real_ir: ModuleType, context: Any, queued: list[_Queued], module: Any, tag: str) -> None:
        """Run the queued passes, one at a time."""
        try:
            self._run(real_ir, context, queued, module, tag)
        except PassFailed as failed:
            self._emit(dataclasses.replace(self._pass(failed.name, failed.title, (), 0, None), failed=True))
            raise

    def _run(self, real_ir: ModuleType, context: Any, queued: list[_Queued], module: Any, tag: str) -> None:
        for position, (function_name, add, arguments) in enumerate(queued):
            if self._shadow is None and function_name.endswith(_TO_LLVM_DIALECT):
                self._shadow = _Shadow(_texts(real_ir, context, queued[position:], module, tag))
            run_pass = functools.partial(
                _run_pass, real_ir, context, add, arguments, module, tag, function_name
            )
            if allocates_shared_memory(function_name):
                with allocation_printed(real_ir, context, self._output) as printed:
                    name, options, milliseconds = run_pass()
                    allocations = read_allocations(printed(), self._count, module)
                for allocation in allocations:
                    self._emit(allocation)
            else:
                name, options, milliseconds = run_pass()
            title = _title(function_name)
            if self._shadow is None:
                self._tell(name, title, options, milliseconds, module)
            else:
                self._waiting.append(self._pass(name, title, options, milliseconds, None))

    def finish(self) -> None:
        """Tell of the passes that the forked copy has printed."""
        if self._shadow is None:
            return
        texts = list(self._shadow.texts())
        for waiting, text in zip(self._waiting, texts, strict=False):
            self._emit(dataclasses.replace(waiting, text=text))
        lost = self._waiting[len(texts) :]
        if lost:
            names = ", ".join(waiting.name for waiting in lost)
            message = f"What these passes have changed is not known, for printing it has failed: {names}."
            self._emit(Diagnostic("warning", message, self.stage))
        self._waiting.clear()
        self._shadow = None

    def _pass(
        self, name: str, title: str, options: tuple[Scalar, ...], milliseconds: float, text: str | None
    ) -> Pass:
        index = self._count
        self._count += 1
        return Pass(index, self.stage, name, title, options, round(milliseconds, 3), text)

    def _tell(
        self, name: str, title: str, options: tuple[Scalar, ...], milliseconds: float, module: Any
    ) -> None:
        text = without_locations(str(module))
        changed = text != self._text
        self._text = text
        self._emit(self._pass(name, title, options, milliseconds, text if changed else None))


def _run_pass(
    real_ir: ModuleType,
    context: Any,
    add: Callable[..., None],
    arguments: tuple[Any, ...],
    module: Any,
    tag: str,
    function_name: str,
) -> tuple[str, tuple[Scalar, ...], float]:
    """Run one pass; return MLIR's name of it, its options, and its milliseconds."""
    manager = real_ir.pass_manager(context)
    manager.enable_debug()
    add(manager, *arguments)
    name, options = _describe(manager.get_pipeline_str(), function_name)
    start = time.perf_counter()
    try:
        manager.run(module, tag)
    except RuntimeError as error:
        raise PassFailed(name, _title(function_name), str(error)) from error
    return name, options, (time.perf_counter() - start) * 1000


def _describe(pipeline: str, function_name: str) -> tuple[str, tuple[Scalar, ...]]:
    """Split MLIR's text of a pipeline of one pass, `any(name{option=value …})`, into name and options."""
    inner = pipeline
    while inner.endswith(")") and "(" in inner.split("{", 1)[0]:
        inner = inner[inner.index("(") + 1 : -1]
    found = _PIPELINE.match(inner)
    if not found:
        return function_name.removeprefix("add_"), ()
    options = found.group("options") or ""
    return found.group("name"), tuple(options.split())


def _title(function_name: str) -> str:
    words = function_name.removeprefix("add_").replace("_", " ")
    return words[:1].upper() + words[1:]


def _texts(
    real_ir: ModuleType, context: Any, queued: list[_Queued], module: Any, tag: str
) -> Iterator[str | None]:
    """Run the passes; after each yield the module's text, or None where it is as before."""
    before = None
    for function_name, add, arguments in queued:
        _run_pass(real_ir, context, add, arguments, module, tag, function_name)
        text = without_locations(str(module))
        yield text if text != before else None
        before = text


class _Shadow:
    """A forked copy of this process that makes texts beside it, one JSON value a line into a file."""

    def __init__(self, texts: Iterator[str | None]) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # lives until `texts` has read it
        self._process = os.fork()
        if self._process == 0:
            # What fails here fails in the compile too, which says so.
            with contextlib.suppress(BaseException):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                for text in texts:
                    self._file.write(json.dumps(text).encode() + b"\n")
                self._file.flush()
            os._exit(0)

    def texts(self) -> Iterator[str | None]:
        """Wait for the copy to end and yield its texts."""
        os.waitpid(self._process, 0)
        self._file.seek(0)
        with self._file:
            for line in self._file:
                if line.endswith(b"\n"):
                    yield json.loads(line)


class _IrProxy:
    """`triton._C.libtriton.ir`, but for the pass manager."""

    def __init__(self, real: ModuleType, recorder: PassRecorder) -> None:
        self._real = real
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def pass_manager(self, context: Any) -> _QueueingPassManager:
        return _QueueingPassManager(self._real, context, self._recorder)


class _QueueingPassManager:
    """Takes the place of MLIR's pass manager: passes are queued, and run one at a time."""

    def __init__(self, real_ir: ModuleType, context: Any, recorder: PassRecorder) -> None:
        self._real_ir = real_ir
        self._context = context
        self._recorder = recorder
        self.queued: list[_Queued] = []

    def enable_debug(self) -> bool:
        return False

    def run(self, module: Any, tag: str) -> None:
        self._recorder.run(self._real_ir, self._context, self.queued, module, tag)


class _PassesProxy:
    """A namespace of `add_*` functions: those called with a queueing pass manager are queued."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._real, name)
        if name.startswith("add_"):

            def add(manager: Any, *arguments: Any) -> None:
                if isinstance(manager, _QueueingPassManager):
                    manager.queued.append((name, value, arguments))
                else:
                    value(manager, *arguments)

            return add
        return _PassesProxy(value) if isinstance(value, ModuleType) else value
