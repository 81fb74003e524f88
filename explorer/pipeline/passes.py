"""Runs the compiler's MLIR passes one at a time, and emits each with its time and the module after it.

Triton's backends collect passes by calling `passes.….add_*(pass_manager)` and then run them all. While a
`PassRecorder` is active, the backend's module sees proxies of `ir`, `passes` and its vendor's namespace: an
`add_*` call is only queued, and `run` creates a real pass manager for each pass.

Modules are printed with locations, which are removed afterwards: values keep the names of the source only
this way. Large modules of the LLVM dialect take long to print (20 ms for 1.5 MB, after some of 70 passes).
From the pass that creates them on, a forked copy of this process runs the same passes and prints, within
limits on time and memory, while the compilation continues without printing.

Source: `make_ttir`, `make_ttgir`, `make_llir` of triton.backends.{nvidia,amd}.compiler, 3.6 and 3.9.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from hashlib import blake2b
from types import ModuleType
from typing import Any

from explorer.model import Allocation, Diagnostic, Edits, Pass, Scalar
from explorer.model.hardware import Target
from explorer.pipeline import current_work, time_limit
from explorer.pipeline.allocation import allocates_shared_memory, allocation_printed, read_allocations
from explorer.pipeline.failed_pass import WorkedOn, find_worked_on
from explorer.pipeline.forked_copy import ForkedCopy
from explorer.pipeline.queued_passes import LeftOut, PassEdits, Queued, describe
from explorer.pipeline.stages.mlir import without_locations
from explorer.pipeline.targets import tools_of
from explorer.pipeline.tool_output import ToolOutput

_TO_LLVM_DIALECT = "to_llvmir"
#: Printing the results of a shorter module, whose conversion takes less time, takes less time than a copy of
#: this process.
_LARGE_CHARACTERS = 5_000
_LONG_MS = 50.0
#: The memory that the copy may use for printing.
_COPY_BYTES = 1536 << 20
#: The time for printing in this process. The copy has the same time, or as much as the compilation has taken.
_PRINTING_SECONDS = 5.0
#: The time of a job that is left for its end: a job that reaches its limit has failed.
_RESERVED_SECONDS = 2.0
#: The text of a module after a pass, None if it is unchanged; and why it is not known, or "".
_Snapshot = tuple[str | None, str]


_TOO_SLOW = "printing it takes too long"


class PassFailed(RuntimeError):
    """A pass failed. `name` and `title` identify the pass, the message is the compiler's message.

    `worked_on` is the operation that it visited last, if that is known.
    """

    def __init__(self, name: str, title: str, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.title = title
        self.worked_on: WorkedOn | None = None


class PassRecorder:
    """Emits every pass that the target's backend runs while this recorder is active.

    Set `stage` to the stage that is being made. Call `finish` at the end, which emits the passes whose
    modules were printed by the forked copy.
    """

    def __init__(
        self,
        target: Target,
        output: ToolOutput,
        emit: Callable[[Pass | Allocation | Diagnostic], None],
        edits: Edits | None = None,
    ) -> None:
        self.stage = ""
        #: The time of printing modules, and of the forked copy's begin, so far.
        self.printing_milliseconds = 0.0
        self.pass_edits = PassEdits(edits or Edits())
        self._target = target
        self._output = output
        self._emit = emit
        self._count = 0
        self._snapshots = _Snapshots()
        self._shadow: ForkedCopy | None = None
        self._waiting: deque[Pass] = deque()
        self._began = time.monotonic()

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Install the proxies, and remove them at the end."""
        vendor = tools_of(self._target).passes_namespace
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
        """Emit the step that made the module, before any pass."""
        self._tell(name, title, (), milliseconds, module)

    def run(self, real_ir: ModuleType, context: Any, queued: list[Queued], module: Any, tag: str) -> None:
        """Run the queued passes, one at a time."""
        try:
            self._run(real_ir, context, self.pass_edits.apply(real_ir, context, queued), module, tag)
        except PassFailed as failed:
            self._emit(dataclasses.replace(self._pass(failed.name, failed.title, (), 0, None), failed=True))
            raise

    def _run(self, real_ir: ModuleType, context: Any, queued: list[Queued], module: Any, tag: str) -> None:
        for position, (function_name, add, arguments) in enumerate(queued):
            run = functools.partial(
                self._run_pass, real_ir, context, add, arguments, module, tag, function_name
            )
            if allocates_shared_memory(function_name):
                with allocation_printed(real_ir, context, self._output) as printed:
                    name, options, milliseconds = run()
                    allocations = read_allocations(printed(), self._count, module)
                for allocation in allocations:
                    self._emit(allocation)
            else:
                name, options, milliseconds = run()
            if self._shadow is None and function_name.endswith(_TO_LLVM_DIALECT):
                is_large = len(self._snapshots.text) >= _LARGE_CHARACTERS or milliseconds >= _LONG_MS
                if is_large:
                    texts = _texts(real_ir, context, queued[position + 1 :], module, tag)
                    with self._printing():
                        self._shadow = ForkedCopy(texts, _COPY_BYTES)
            title = _title(function_name) + (" (left out)" if isinstance(add, LeftOut) else "")
            if self._shadow is None:
                self._tell(name, title, options, milliseconds, module)
            else:
                self._waiting.append(self._pass(name, title, options, milliseconds, None))

    def _run_pass(
        self,
        real_ir: ModuleType,
        context: Any,
        add: Callable[..., None],
        arguments: tuple[Any, ...],
        module: Any,
        tag: str,
        function_name: str,
    ) -> tuple[str, tuple[Scalar, ...], float]:
        """Run a pass. If it fails, find the operation that it visited last."""
        try:
            return run_pass(real_ir, context, add, arguments, module, tag, function_name)
        except PassFailed as failed:
            if self._shadow is None and self._snapshots.printed:

                def again(module: Any) -> None:
                    run_pass(real_ir, context, add, arguments, module, tag, function_name)

                failed.worked_on = find_worked_on(again, context, self._snapshots.printed)
            raise

    def finish(self) -> None:
        """Emit the passes that the forked copy prints, in limited time."""
        if self._shadow is None:
            return
        seconds = max(_PRINTING_SECONDS, time.monotonic() - self._began)
        seconds = min(seconds, time_limit.remaining_seconds() - _RESERVED_SECONDS)
        for text, omitted in self._shadow.values(seconds):
            if self._waiting:
                self._emit(dataclasses.replace(self._waiting.popleft(), text=text, omitted=omitted))
        reason = _TOO_SLOW if self._shadow.was_stopped else "printing it takes too much memory"
        for each in self._waiting:
            self._emit(dataclasses.replace(each, omitted=reason))
        self._waiting.clear()
        self._shadow = None

    def _pass(
        self, name: str, title: str, options: tuple[Scalar, ...], milliseconds: float, text: str | None
    ) -> Pass:
        index = self._count
        self._count += 1
        return Pass(index, self.stage, name, title, options, round(milliseconds, 3), text)

    @contextlib.contextmanager
    def _printing(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.printing_milliseconds += (time.perf_counter() - start) * 1000

    def _tell(
        self, name: str, title: str, options: tuple[Scalar, ...], milliseconds: float, module: Any
    ) -> None:
        with self._printing():
            text, omitted = self._snapshots.take(module)
        made = self._pass(name, title, options, milliseconds, text)
        self._emit(dataclasses.replace(made, omitted=omitted))


def run_pass(
    real_ir: ModuleType,
    context: Any,
    add: Callable[..., None],
    arguments: tuple[Any, ...],
    module: Any,
    tag: str,
    function_name: str,
) -> tuple[str, tuple[Scalar, ...], float]:
    """Run one pass. Return its MLIR name, its options, and its time in milliseconds."""
    if isinstance(add, LeftOut):
        return add.name, add.options, 0.0
    manager = real_ir.pass_manager(context)
    manager.enable_debug()
    add(manager, *arguments)
    name, options = describe(manager.get_pipeline_str(), function_name)
    current_work.begin(f"the pass {name}")
    start = time.perf_counter()
    try:
        manager.run(module, tag)
    except RuntimeError as error:
        raise PassFailed(name, _title(function_name), str(error)) from error
    return name, options, (time.perf_counter() - start) * 1000


def _title(function_name: str) -> str:
    words = function_name.removeprefix("add_").replace("_", " ")
    return words[:1].upper() + words[1:]


def _texts(
    real_ir: ModuleType, context: Any, queued: list[Queued], module: Any, tag: str
) -> Iterator[_Snapshot]:
    """Yield the snapshot of a module, then run the passes, and yield the snapshot after each."""
    snapshots = _Snapshots()
    yield snapshots.take(module)
    for function_name, add, arguments in queued:
        run_pass(real_ir, context, add, arguments, module, tag, function_name)
        yield snapshots.take(module)


class _Snapshots:
    """Prints a module after each pass. `text` is the last text, without locations, `printed` with them."""

    def __init__(self) -> None:
        self.text = ""
        self.printed = ""
        self._printed_digest = b""
        self._seconds = 0.0

    def take(self, module: Any) -> _Snapshot:
        """Return the text of a module, or None if it is unchanged."""
        if self._seconds > _PRINTING_SECONDS:
            return None, _TOO_SLOW
        start = time.perf_counter()
        try:
            return self._take(module)
        finally:
            self._seconds += time.perf_counter() - start

    def _take(self, module: Any) -> _Snapshot:
        printed = str(module)
        digest = blake2b(printed.encode("utf-8", "replace")).digest()
        if digest == self._printed_digest:
            return None, ""
        self._printed_digest, self.printed, before = digest, printed, self.text
        current_work.works_on("ttgir", printed)
        self.text = without_locations(printed)
        return (None if self.text == before else self.text), ""


class _IrProxy:
    """`triton._C.libtriton.ir` with a replaced pass manager."""

    def __init__(self, real: ModuleType, recorder: PassRecorder) -> None:
        self._real = real
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def pass_manager(self, context: Any) -> _QueueingPassManager:
        return _QueueingPassManager(self._real, context, self._recorder)


class _QueueingPassManager:
    """Replaces MLIR's pass manager: passes are queued, and run one at a time."""

    def __init__(self, real_ir: ModuleType, context: Any, recorder: PassRecorder) -> None:
        self._real_ir = real_ir
        self._context = context
        self._recorder = recorder
        self.queued: list[Queued] = []

    def enable_debug(self) -> bool:
        return False

    def run(self, module: Any, tag: str) -> None:
        self._recorder.run(self._real_ir, self._context, self.queued, module, tag)


class _PassesProxy:
    """A namespace of `add_*` functions. Calls with a queueing pass manager are queued."""

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
