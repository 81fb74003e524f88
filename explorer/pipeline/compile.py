"""Compile one specialised kernel and tell of everything on the way: stages, passes, resources, remarks.

In: a `Specialization`, a `Target`. Out: events, each as soon as it is known. What fails is told as a
`Diagnostic` on the user's line; what was made before the failure has been told by then.

Source: the order of steps is that of triton.compiler.compiler.compile, 3.6 and 3.9, without its cache.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

from explorer.model import Binary, Diagnostic, Event, Location, Log, Resources, Stage
from explorer.pipeline.diagnose import ABSOLUTE_FOLDER, diagnose
from explorer.pipeline.errors import UserError
from explorer.pipeline.functions import function_trees
from explorer.pipeline.passes import PassRecorder
from explorer.pipeline.specialize import Specialization
from explorer.pipeline.stages import Artifact, stage_produced_by
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.stages.sass import DisassemblerError
from explorer.pipeline.targets import Target
from explorer.pipeline.tool_output import ToolOutput, read_messages

_TENSOR_MEMORY_COLUMNS = 512
_THREADS_PER_BLOCK = 1024


class Compilation:
    """One kernel on its way from Python to machine code."""

    def __init__(
        self,
        specialization: Specialization,
        target: Target,
        source: str,
        emit: Callable[[Event], None],
    ) -> None:
        self._specialization = specialization
        self._target = target
        self._source = source
        self._emit = emit
        self._output = ToolOutput()
        self._recorder = PassRecorder(target, self._output, emit)
        self._metadata: dict[str, Any] = {}
        self._stage = ""
        self._tool_log = ""
        self._assembly = ""
        self._known_locations: tuple[Location, ...] = ()

    def run(self) -> None:
        """Compile, telling of each step.

        Raises:
            UserError: the kernel cannot be compiled; everything up to there has been told.
        """
        self._tell_stage("source", function_trees(self._specialization.jit_function, self._source))
        with self._output.active(), _remarks_enabled(), ThreadPoolExecutor(1) as beside:
            try:
                with self._recorder.active():
                    artifacts = self._lower()
                # The disassembler takes as long as half of the compile: it runs beside what is left.
                binary = beside.submit(self._read, self._target.binary, artifacts[self._target.binary])
            except Exception as error:
                raise UserError(self._diagnose(error)) from error
            finally:
                self._recorder.finish()
                for message in self._new_messages():
                    self._emit(message)
            resources = self._resources(artifacts)
            self._emit(resources)
            data = base64.b64encode(artifacts[self._target.binary]).decode("ascii")
            self._emit(Binary(self._target.binary, data))
            self._tell(binary.result())
        self._check_limits(resources)

    def _lower(self) -> dict[str, Any]:
        """Run Triton's steps; return what each of them made, by Triton's name of it."""
        from triton._C.libtriton import ir
        from triton.compiler.compiler import make_backend

        specialization = self._specialization
        gpu_target = self._target.for_triton()
        backend = make_backend(gpu_target)
        source = _make_source(specialization)
        options = backend.parse_options({**specialization.options, **source.parse_options()})
        self._metadata = {"target": gpu_target, **options.__dict__}
        steps = self._steps(backend, options, source.language)

        context = ir.context()
        ir.load_dialects(context)
        backend.load_dialects(context)
        is_gluon = specialization.described.language == "gluon"
        first = "glir" if is_gluon else "ttir"
        self._stage = self._recorder.stage = first
        start = time.perf_counter()
        module = source.make_ir(
            gpu_target,
            options,
            backend.get_codegen_implementation(options),
            backend.get_module_map(),
            context,
        )
        milliseconds = _since(start)
        self._recorder.first("ast-to-ttir", "AST walk", milliseconds, module)
        if is_gluon:
            self._tell_stage(first, module, milliseconds)

        artifacts: dict[str, Any] = {}
        for name, make in steps.items():
            if name == "glir":  # Triton 3.9 names the step that hands on the module just shown
                continue
            self._stage = self._recorder.stage = name
            if name == "cubin":
                self._assembly = module = correct_line_information(module)
            start = time.perf_counter()
            module = self._make(make, module)
            artifacts[name] = module
            if name != self._target.binary:
                self._tell_stage(name, module, _since(start))
        return artifacts

    def _steps(self, backend: Any, options: Any, language: Any) -> dict[str, Callable[..., Any]]:
        """Triton's steps from the module to the binary, by its names of what they make, in order."""
        steps: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
        backend.add_stages(steps, options, language)
        return steps

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
                self._emit(Log(_tool_name(self._stage), ABSOLUTE_FOLDER.sub("", self._tool_log)))

    def _tell_stage(self, produced_by: str, value: Any, milliseconds: float | None = None) -> None:
        self._tell(self._read(produced_by, value, milliseconds))

    def _tell(self, stage: Stage | Diagnostic | None) -> None:
        if stage is not None:
            self._emit(stage)

    def _read(
        self, produced_by: str, value: Any, milliseconds: float | None = None
    ) -> Stage | Diagnostic | None:
        """Read the stage that one of Triton's steps produces; None where nothing is shown of it.

        `milliseconds` is the time of the step; None where reading is what takes the time.
        """
        kind = stage_produced_by(produced_by)
        if kind is None:
            return None
        start = time.perf_counter()
        try:
            read = kind.read(Artifact(value, self._known_locations))
        except DisassemblerError as error:
            return Diagnostic("error", str(error), kind.name)
        self._known_locations = read.table.locations
        return Stage(
            name=kind.name,
            title=kind.title,
            language=kind.language,
            milliseconds=round(_since(start) if milliseconds is None else milliseconds, 3),
            text=read.text,
            raw=read.raw,
            locations=read.table.locations,
            line_locations=tuple(read.table.lines),
        )

    def _diagnose(self, error: Exception) -> Diagnostic:
        """Say what has gone wrong while lowering; what else the compiler has said is told."""
        messages = self._new_messages()
        diagnostic = diagnose(error, messages, self._specialization, self._assembly, self._shown_stage())
        for message in messages:
            if message.message not in diagnostic.message:
                self._emit(message)
        return diagnostic

    def _shown_stage(self) -> str:
        """Return the name of the stage that is being made, as the page calls it."""
        kind = stage_produced_by(self._stage)
        return self._stage if kind is None else kind.name

    def _new_messages(self) -> list[Diagnostic]:
        """Return what the compiler has complained of since the last time; log whatever else it has said."""
        messages, rest = read_messages(self._output.new_text(), self._shown_stage())
        if rest:
            self._emit(Log("compiler", rest))
        return messages

    def _resources(self, artifacts: dict[str, Any]) -> Resources:
        """Say what the binary needs, by its metadata and by the assembler's report of it."""
        metadata = self._metadata
        warps = int(metadata["num_warps"])
        return dataclasses.replace(
            self._target.read_resources(self._tool_log or str(artifacts.get("amdgcn", ""))),
            shared_bytes=metadata.get("shared"),
            tensor_memory_columns=metadata.get("tmem_size"),
            global_scratch_bytes=metadata.get("global_scratch_size"),
            warps=warps,
            threads=warps * self._target.warp_size,
        )

    def _check_limits(self, resources: Resources) -> None:
        """Check what a launch would check.

        Raises:
            UserError: the binary needs more than the target has.
        """
        most_bytes = self._target.device.multiprocessor.shared_bytes_per_block
        if (resources.shared_bytes or 0) > most_bytes:
            self._refuse(
                f"{resources.shared_bytes:,} bytes of shared memory; a block on {self._target.architecture} "
                f"can have {most_bytes:,}",
                "Make the blocks or num_stages smaller.",
            )
        if (resources.threads or 0) > _THREADS_PER_BLOCK:
            self._refuse(
                f"{resources.threads} threads; a block can have {_THREADS_PER_BLOCK}",
                "Make num_warps smaller.",
            )
        if (resources.tensor_memory_columns or 0) > _TENSOR_MEMORY_COLUMNS:
            self._refuse(
                f"{resources.tensor_memory_columns} columns of tensor memory; there are "
                f"{_TENSOR_MEMORY_COLUMNS}",
                "Make the blocks smaller.",
            )

    def _refuse(self, too_much: str, hint: str) -> NoReturn:
        message = f"The kernel needs {too_much}. It compiles, but cannot be launched."
        stage, line = self._target.stages[-1], self._specialization.described.line
        raise UserError(Diagnostic("error", message, stage, line, hint=hint))


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
    if specialization.described.language == "gluon":
        from triton.experimental.gluon._runtime import GluonASTSource

        return GluonASTSource(*arguments)
    from triton.compiler.compiler import ASTSource

    return ASTSource(*arguments)
