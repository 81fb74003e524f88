"""Compile one specialised kernel and tell of everything on the way: stages, passes, resources, remarks.

In: a `Specialization`, a `Target`. Out: events, each as soon as it is known. What fails is told as a
`Diagnostic` on the user's line; what was made before the failure has been told by then.

Source: the order of steps is that of triton.compiler.compiler.compile, 3.6 and 3.9, without its cache.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import io
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.model import Diagnostic, Event, Log, Resources, Stage
from explorer.pipeline.errors import UserError
from explorer.pipeline.fake_gpu.devices import DEVICES
from explorer.pipeline.passes import PassFailed, PassRecorder
from explorer.pipeline.specialize import Specialization
from explorer.pipeline.stages import STAGES, Artifact, StageKind
from explorer.pipeline.stages.sass import DisassemblerError
from explorer.pipeline.targets import Target
from explorer.pipeline.tool_output import ToolOutput, read_messages

_TENSOR_MEMORY_COLUMNS = 512
_ABSOLUTE_PATH = re.compile(r"(?:/[\w.+-]+)+/(?=[\w.+-]+)")


class Compilation:
    """One kernel on its way from Python to machine code."""

    def __init__(
        self,
        specialization: Specialization,
        target: Target,
        source_path: str,
        emit: Callable[[Event], None],
    ) -> None:
        self._specialization = specialization
        self._target = target
        self._source_path = source_path
        self._emit = emit
        self._recorder = PassRecorder(target, emit)
        self._output = ToolOutput()
        self._metadata: dict[str, Any] = {}
        self._stage = ""

    def run(self) -> None:
        """Compile, telling of each step.

        Raises:
            UserError: the kernel cannot be compiled; everything up to there has been told.
        """
        self._tell_stage(self._kind("source"), _function_trees(self._specialization), 0.0)
        with self._output.active(), _remarks_enabled():
            try:
                with self._recorder.active():
                    artifacts = self._lower()
            except Exception as error:
                raise UserError(self._diagnose(error)) from error
            finally:
                self._recorder.finish()
                self._tell_output()
        self._tell_resources(artifacts)
        binary = self._kind(self._target.binary)
        if binary is not None:
            self._tell_stage(binary, artifacts[self._target.binary])

    def _lower(self) -> dict[str, Any]:
        """Run Triton's steps; return what each of them made, by Triton's name of it."""
        from triton._C.libtriton import ir
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend

        specialization = self._specialization
        gpu_target = GPUTarget(self._target.backend, self._target.triton_architecture, self._target.warp_size)
        backend = make_backend(gpu_target)
        source = _make_source(specialization)
        options = backend.parse_options({**specialization.options, **source.parse_options()})
        self._metadata = {"target": gpu_target, **options.__dict__}
        steps: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
        backend.add_stages(steps, options, source.language)

        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        is_gluon = specialization.language == "gluon"
        first = "glir" if is_gluon else "ttir"
        self._stage = self._recorder.stage = first
        start = time.perf_counter()
        module = source.make_ir(
            gpu_target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        milliseconds = _since(start)
        self._recorder.first("ast-to-ttir", "AST walk", milliseconds, module)
        if is_gluon:
            self._tell_stage(self._kind(first), module, milliseconds)

        artifacts: dict[str, Any] = {}
        for name, make in steps.items():
            if name == "glir":  # Triton 3.9 names the step that hands on the module just shown
                continue
            self._stage = self._recorder.stage = name
            start = time.perf_counter()
            module = self._make(make, module)
            artifacts[name] = module
            kind = self._kind(name)
            if kind is not None and name != self._target.binary:
                self._tell_stage(kind, module, _since(start))
        return artifacts

    def _make(self, make: Callable[[Any, dict[str, Any]], Any], module: Any) -> Any:
        """Run one step; what it prints is the log of the tool that it has started."""
        from triton import knobs

        printed = io.StringIO()
        knobs.nvidia.dump_ptxas_log = True
        try:
            with contextlib.redirect_stdout(printed):
                return make(module, self._metadata)
        finally:
            knobs.nvidia.dump_ptxas_log = False
            if printed.getvalue().strip():
                self._tool_log = printed.getvalue()
                self._emit(Log(_tool_name(self._stage), _ABSOLUTE_PATH.sub("", self._tool_log)))

    _tool_log = ""

    def _kind(self, produced_by: str) -> StageKind | None:
        return next((kind for kind in STAGES if kind.produced_by == produced_by), None)

    def _tell_stage(self, kind: StageKind | None, value: Any, milliseconds: float | None = None) -> None:
        if kind is None:
            return
        self._stage = kind.name
        start = time.perf_counter()
        try:
            read = kind.read(Artifact(value, self._source_path, self._target.architecture))
        except DisassemblerError as error:
            raise UserError(Diagnostic("error", str(error), kind.name)) from error
        self._emit(
            Stage(
                name=kind.name,
                title=kind.title,
                language=kind.language,
                milliseconds=round(_since(start) if milliseconds is None else milliseconds, 3),
                text=read.text,
                raw=read.raw,
                locations=read.table.locations,
                line_locations=tuple(read.table.lines),
            )
        )

    def _tell_output(self) -> None:
        diagnostics, rest = read_messages(self._output.new_text(), self._source_path, self._stage)
        for diagnostic in diagnostics:
            self._emit(diagnostic)
        if rest:
            self._emit(Log("compiler", rest))

    def _tell_resources(self, artifacts: dict[str, Any]) -> None:
        """Tell what the binary needs.

        Raises:
            UserError: it needs more than the target has.
        """
        metadata = self._metadata
        said = self._tool_log or str(artifacts.get("amdgcn", ""))
        warps = int(metadata["num_warps"])
        resources = dataclasses.replace(
            self._target.read_resources(said),
            shared_bytes=metadata.get("shared"),
            tensor_memory_columns=metadata.get("tmem_size"),
            global_scratch_bytes=metadata.get("global_scratch_size"),
            warps=warps,
            threads=warps * self._target.warp_size,
        )
        self._emit(resources)
        self._check_limits(resources)

    def _check_limits(self, resources: Resources) -> None:
        device = DEVICES[self._target.backend, self._target.triton_architecture]
        line = self._specialization.line
        if (resources.shared_bytes or 0) > device.shared_bytes:
            raise UserError(
                Diagnostic(
                    "error",
                    f"The kernel needs {resources.shared_bytes:,} bytes of shared memory; a block on "
                    f"{self._target.architecture} can have {device.shared_bytes:,}. It compiles, but cannot be "
                    "launched.",
                    self._target.stages[-1],
                    line,
                    hint="Make the blocks or num_stages smaller.",
                )
            )
        if (resources.tensor_memory_columns or 0) > _TENSOR_MEMORY_COLUMNS:
            raise UserError(
                Diagnostic(
                    "error",
                    f"The kernel needs {resources.tensor_memory_columns} columns of tensor memory; there are "
                    f"{_TENSOR_MEMORY_COLUMNS}. It compiles, but cannot be launched.",
                    self._target.stages[-1],
                    line,
                    hint="Make the blocks smaller.",
                )
            )

    def _diagnose(self, error: Exception) -> Diagnostic:
        """Say what has gone wrong while lowering, on the line where it has."""
        from triton.compiler.errors import CompilationError
        from triton.runtime.errors import PTXASError

        if isinstance(error, CompilationError):
            return self._diagnose_source(error)
        diagnostics, rest = read_messages(self._output.new_text(), self._source_path, self._stage)
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
        for diagnostic in diagnostics:
            if diagnostic not in errors[:1]:
                self._emit(diagnostic)
        if rest:
            self._emit(Log("compiler", rest))
        where = f" (pass {error.name})" if isinstance(error, PassFailed) else ""
        if errors:
            first = errors[0]
            line = first.line or self._specialization.line
            return dataclasses.replace(first, message=first.message + where, line=line)
        message = str(error) or type(error).__name__
        if isinstance(error, PTXASError):
            message = "ptxas refused the PTX: " + _first_ptxas_error(message)
        return Diagnostic("error", message + where, self._stage, self._specialization.line)

    def _diagnose_source(self, error: Any) -> Diagnostic:
        """Say what is wrong in the kernel's own source.

        Triton wraps the error of a called function in one for each caller: the deepest one whose source
        is the user's has the line, and the deepest of all has the message.
        """
        from triton.compiler.errors import CompilationError

        functions = {function.src: function for function in _called_functions(self._specialization.jit_function)}
        place: tuple[int, int, int, int] = (self._specialization.line, 0, 0, 0)
        message = ""
        current: BaseException | None = error
        while current is not None:
            if isinstance(current, CompilationError):
                function = functions.get(current.src)
                node = current.node
                if function is not None and _file_of(function) == self._source_path and hasattr(node, "lineno"):
                    place = _place(function, node)
                message = current.error_message or message
            else:
                message = str(current) or type(current).__name__
            current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
        line, column, end_line, end_column = place
        return Diagnostic(
            "error",
            message or "The kernel cannot be compiled.",
            self._stage,
            line,
            column,
            end_line,
            end_column,
            hint=_hint(message),
        )


def _hint(message: str) -> str:
    """Say what to do about the compiler's most common complaints."""
    if "power of 2" in message or "power of two" in message:
        return "Round it up to a power of two and mask what is out of bounds."
    if "no attribute" in message:
        return "This Triton version has no such function; see its documentation, or choose another version."
    return ""


def _first_ptxas_error(message: str) -> str:
    """Return the assembler's own first complaint out of Triton's report of it."""
    found = re.search(r"^ptxas .*$", message, re.MULTILINE)
    return _ABSOLUTE_PATH.sub("", found.group() if found else message.strip().splitlines()[0])


def _tool_name(step: str) -> str:
    return "ptxas" if step == "cubin" else "compiler"


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


@contextlib.contextmanager
def _remarks_enabled() -> Iterator[None]:
    """Have the passes say why they did not do what one would expect of them."""
    os.environ["MLIR_ENABLE_DIAGNOSTICS"] = "remarks"
    try:
        yield
    finally:
        del os.environ["MLIR_ENABLE_DIAGNOSTICS"]


def _make_source(specialization: Specialization) -> Any:
    """Make what Triton calls the source: the function with its specialisation."""
    arguments = (
        specialization.jit_function,
        specialization.signature,
        specialization.constexprs,
        specialization.attrs,
    )
    if specialization.language == "gluon":
        from triton.experimental.gluon._runtime import GluonASTSource

        return GluonASTSource(*arguments)
    from triton.compiler.compiler import ASTSource

    return ASTSource(*arguments)


def _file_of(function: Any) -> str:
    return str(function.fn.__code__.co_filename)


def _called_functions(function: Any) -> list[Any]:
    """Return a kernel and the `jit` functions that it calls, directly or not, the kernel first."""
    from triton.runtime.jit import JITCallable

    found: list[Any] = []
    waiting = [function]
    while waiting:
        current = waiting.pop(0)
        if current in found:
            continue
        found.append(current)
        scope = current.get_capture_scope()
        for node in ast.walk(current.parse()):
            value = None
            if isinstance(node, ast.Name):
                value = scope.get(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                value = getattr(scope.get(node.value.id), node.attr, None)
            if isinstance(value, JITCallable):
                waiting.append(value)
    return found


def _function_trees(specialization: Specialization) -> list[ast.AST]:
    """Return the syntax trees of the kernel and of the functions of the same file that it calls."""
    path = _file_of(specialization.jit_function)
    tree = ast.parse(Path(path).read_text())
    definitions = {
        (node.name, line): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for line in [node.lineno, *(decorator.lineno for decorator in node.decorator_list)]
    }
    trees = []
    for function in _called_functions(specialization.jit_function):
        code = function.fn.__code__
        definition = definitions.get((code.co_name, code.co_firstlineno))
        if code.co_filename == path and definition is not None:
            trees.append(definition)
    return trees


def _place(function: Any, node: ast.AST) -> tuple[int, int, int, int]:
    """Return where a node of a function's source stands in its file: line, column, end line and column."""
    lines = function.raw_src
    first = next((number for number, line in enumerate(lines) if re.match(r"\s*def\s", line)), 0)
    above = function.starting_line_number + first - 1
    indentation = len(lines[first]) - len(lines[first].lstrip()) if lines else 0
    line, column = node.lineno + above, node.col_offset + indentation + 1  # type: ignore[attr-defined]
    end_line = getattr(node, "end_lineno", None)
    end_column = getattr(node, "end_col_offset", None)
    if end_line is None or end_column is None:
        return line, column, 0, 0
    return line, column, end_line + above, end_column + indentation + 1
