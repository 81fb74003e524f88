"""Compile one specialized kernel and emit all intermediate results: stages, passes, resources, remarks.

In: a `Specialization`, a `Target`. Out: events, each as soon as it is known. A failure becomes a `Diagnostic`
at the user's line; everything that was made before the failure has been emitted by then.

Source: the order of the steps follows triton.compiler.compiler.compile, 3.6 and 3.9, without its cache.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from explorer.model import Binary, Diagnostic, Edits, Event, Location, Log, Resources, Stage
from explorer.model.hardware import TENSOR_MEMORY_COLUMNS, Target
from explorer.pipeline import current_work
from explorer.pipeline.assertions import omitted_assertions
from explorer.pipeline.clauses import with_locations_in_clauses
from explorer.pipeline.diagnose import (
    ABSOLUTE_FOLDER,
    assembler_line,
    assembler_warnings,
    diagnose,
    read_amd_assembler_errors,
)
from explorer.pipeline.edited import (
    ParseError,
    Restored,
    editable_stage,
    make_in_copy,
    parse_module,
    restore,
)
from explorer.pipeline.errors import UserError, user_error
from explorer.pipeline.functions import function_trees
from explorer.pipeline.loop_locations import copy_loop_locations
from explorer.pipeline.lowering import Lowering, Make
from explorer.pipeline.passes import PassRecorder
from explorer.pipeline.specialize import Specialization
from explorer.pipeline.stage_source import StageSource, threads_of
from explorer.pipeline.stages import Artifact, stage_produced_by, stages_of
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.stages.sass import DisassemblerError
from explorer.pipeline.targets import tools_of
from explorer.pipeline.tool_output import ToolOutput, read_messages

#: The steps in which LLVM generates code from LLVM IR.
_MADE_BY_LLVM = ("ptx", "amdgcn")
#: The stages whose texts LLVM reads.
_READ_BY_LLVM = ("llir", "amdgcn")

#: One of the two or more buffers that a pipelined loop uses in turn.
_BUFFERS_OF_STAGES = re.compile(r"ttg\.memdesc_index .* : !ttg\.memdesc<(?:[2-9]|\d{2,})x")

#: ptxas has given up where it uses at most this share of the possible registers, and spills so much.
_CLIFF_SHARE = 0.25
_CLIFF_BYTES = 1024


class Compilation:
    """The compilation of one kernel, from Python to machine code."""

    def __init__(
        self,
        specialization: Specialization,
        target: Target,
        emit: Callable[[Event], None],
        edits: Edits | None = None,
    ) -> None:
        self._edits = edits or Edits()
        self._restored: Restored | None = None
        self._specialization = specialization
        self._target = target
        self._tools = tools_of(target)
        self._emit = emit
        self._output = ToolOutput()
        self._recorder = PassRecorder(target, self._output, emit, self._edits)
        self._metadata: dict[str, Any] = {}
        self._stage = ""
        self._tool_log = ""
        self._assembly = ""
        self._binary_milliseconds = 0.0
        self._known_locations: tuple[Location, ...] = ()
        self._has_buffers_of_stages = False
        #: The kernel to show from a binary that may have several kernels.
        self._kernel = ""

    def run(self) -> None:
        """Compile, and emit the events of each step.

        Raises:
            UserError: the kernel cannot be compiled. The events up to there have been emitted.
        """
        if self._specialization.stage_source is None:
            self._emit_stage("source", function_trees(self._specialization.jit_function))
        with self._output.active(), _remarks_enabled():
            try:
                with self._recorder.active():
                    artifacts = self._lower()
                self._show_binary(artifacts)
            except UserError as error:
                self._emit(error.diagnostic)
                raise
            except Exception as error:  # The compiler may raise any exception.
                diagnostic = self._diagnose(error)
                self._emit(diagnostic)
                raise UserError(diagnostic) from error
            finally:
                for message in self._new_messages():
                    self._emit(message)
                self._recorder.finish()

    def _show_binary(self, artifacts: dict[str, Any]) -> None:
        """Emit the binary, its resources and its disassembly.

        Raises:
            UserError: the binary needs more than the target has.
        """
        resources = self._resources(artifacts)
        self._emit(resources)
        data = base64.b64encode(artifacts[self._tools.binary]).decode("ascii")
        self._emit(Binary(self._tools.binary, data, round(self._binary_milliseconds, 3)))
        self._emit_if_any(self._read(self._tools.binary, artifacts[self._tools.binary]))
        self._emit_if_any(self._register_cliff(resources))
        self._check_limits(resources)

    def _lower(self) -> dict[str, Any]:
        """Run Triton's steps. Return the artifact of each step by Triton's name of it."""
        if self._edits.stage:
            editable_stage(self._edits.stage)
        source = self._specialization.stage_source
        steps, module = self._begin() if source is None else self._begin_with(source)
        artifacts: dict[str, Any] = {self._stage: module}
        for name, make in steps.items():
            self._stage = self._recorder.stage = name
            if name == "cubin":
                self._assembly = module = correct_line_information(module)
            elif name == "hsaco":
                self._assembly = module
            current_work.begin(f"the step that makes {name}")
            if name in _MADE_BY_LLVM:
                current_work.works_on("llir", module)
            start, printing = time.perf_counter(), self._recorder.printing_milliseconds
            module = self._edited(name, self._make(make, module))
            # The compiler itself does not print the module after each pass.
            milliseconds = _since(start) - (self._recorder.printing_milliseconds - printing)
            artifacts[name] = module
            if name == self._tools.binary:
                self._binary_milliseconds = milliseconds
            else:
                self._emit_stage(name, module, milliseconds)
        if self._edits.stage and self._restored is None and self._tools.binary in artifacts:
            raise user_error(f"This compilation has no stage {self._edits.stage!r}, so it cannot be edited.")
        for warning in self._recorder.pass_edits.warnings():
            self._emit(warning)
        return artifacts

    def _begin(self) -> tuple[dict[str, Make], Any]:
        """Make the first module from the Python source. Return the steps after it, and the module."""
        lowering = Lowering.of(self._specialization, self._target)
        self._metadata = lowering.metadata
        steps = self._steps(lowering)
        is_gluon = self._specialization.described.language == "gluon"
        first = "glir" if is_gluon else "ttir"
        self._stage = self._recorder.stage = first
        start = time.perf_counter()
        with omitted_assertions() as notes:
            module = lowering.make_module()
        milliseconds = _since(start)
        for note in notes.values():
            self._emit(note)
        self._recorder.first("ast-to-ttir", "AST walk", milliseconds, module)
        if is_gluon:
            module = self._edited(first, module)
            self._emit_stage(first, module, milliseconds)
        return steps, module

    def _begin_with(self, source: StageSource) -> tuple[dict[str, Make], Any]:
        """Read the stage whose text the source is. Return the steps after it, and its artifact.

        Raises:
            UserError: the text has an error.
        """
        self._edits = dataclasses.replace(self._edits, stage=source.kind.name, text=source.text)
        self._restored = source.restored
        name = self._stage = self._recorder.stage = source.kind.produced_by
        start = time.perf_counter()
        lowering, module = source.begin(self._specialization, self._target, self._output)
        milliseconds = _since(start)
        self._metadata = lowering.metadata
        if not isinstance(module, str):
            self._recorder.first("parsed", "Read from the source", milliseconds, module)
        self._emit_stage(name, module, milliseconds)
        names = list(lowering.steps())
        later = names[names.index(name) + 1 :] if name in names else names
        return {each: make for each, make in self._steps(lowering).items() if each in later}, module

    def _edited(self, step: str, made: Any) -> Any:
        """Return the edited artifact if the request edits the output of `step`, otherwise the output.

        Raises:
            UserError: the text has an error, at its line of the edited text.
        """
        kind = stage_produced_by(step)
        if kind is None or kind.name != self._edits.stage:
            return made
        self._restored = restored = restore(kind, made, self._edits.text)
        if isinstance(made, str):
            if threads := threads_of(restored.text):
                self._metadata["num_warps"] = threads // self._target.warp_size
            return restored.text
        start = time.perf_counter()
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, f"edited.{kind.name}")
                module = parse_module(restored.text, made.context, path, self._output)
        except ParseError as error:
            raise error.diagnostic(kind.name, restored) from error
        copy_loop_locations(made, module, restored.text, restored.raw_lines)
        if (warps := module.get_int_attr("ttg.num-warps")) is not None:
            self._metadata["num_warps"] = warps
        self._recorder.first("edited", "Edited by hand", _since(start), module)
        return module

    def _steps(self, lowering: Lowering) -> dict[str, Make]:
        """Return the steps to run, in order."""
        return lowering.steps()

    def _make(self, make: Make, module: Any) -> Any:
        """Run one step. Its output is the log of the tool that the step starts."""
        from triton import knobs

        printed = io.StringIO()
        knobs.nvidia.dump_ptxas_log = True
        try:
            with contextlib.redirect_stdout(printed):
                if (
                    self._restored is not None
                    and self._edits.stage in _READ_BY_LLVM
                    and isinstance(module, str)
                ):
                    made = self._make_from_text(make, module)
                else:
                    made = make(module, self._metadata)
                if self._stage == "amdgcn":
                    made = with_locations_in_clauses(made, module, lambda text: make(text, self._metadata))
                return made
        finally:
            knobs.nvidia.dump_ptxas_log = False
            if printed.getvalue().strip():
                self._tool_log = printed.getvalue()
                self._emit(Log(_tool_name(self._stage), ABSOLUTE_FOLDER.sub("", self._tool_log)))
                for warning in assembler_warnings(self._tool_log, self._specialization, self._assembly):
                    self._emit(warning)

    def _make_from_text(self, make: Make, text: str) -> Any:
        """Run the step in which LLVM reads an edited text.

        Raises:
            UserError: the text has an error, at its line of the edited text.
        """
        restored = self._restored
        assert restored is not None
        if text != restored.text:
            return make(text, self._metadata)
        try:
            return make_in_copy(make, text, self._metadata)
        except ParseError as error:
            raise error.diagnostic(self._edits.stage, restored) from error

    def _emit_stage(self, produced_by: str, value: Any, milliseconds: float | None = None) -> None:
        kind, restored = stage_produced_by(produced_by), self._restored
        if restored is None or kind is None or kind.name != self._edits.stage:
            self._emit_if_any(self._read(produced_by, value, milliseconds))
            return
        # As it was written: the compiler would print it with other names of values.
        stage = self._read(produced_by, restored.text, milliseconds)
        if isinstance(stage, Stage):
            lines = tuple(
                () if number in restored.new else line for number, line in enumerate(stage.line_locations, 1)
            )
            stage = dataclasses.replace(stage, line_locations=lines)
        self._emit_if_any(stage)

    def _emit_if_any(self, stage: Stage | Diagnostic | None) -> None:
        if isinstance(stage, Stage) and stage.name == "ttgir":
            self._has_buffers_of_stages = _BUFFERS_OF_STAGES.search(stage.text) is not None
        if stage is not None:
            self._emit(stage)

    def _read(
        self, produced_by: str, value: Any, milliseconds: float | None = None
    ) -> Stage | Diagnostic | None:
        """Read the stage that one of Triton's steps produces. Return None if the artifact has no stage.

        `milliseconds` is the time of the step; None if reading takes the time.
        """
        kind = stage_produced_by(produced_by)
        if kind is None:
            return None
        start = time.perf_counter()
        source = self._specialization.stage_source if self._specialization is not None else None
        try:
            artifact = Artifact(value, self._known_locations, self._kernel)
            read = kind.read(artifact) if source is None else source.read(kind, artifact)
        except DisassemblerError as error:
            return Diagnostic("error", str(error), kind.name)
        self._known_locations = read.table.locations
        locations, lines = self._with_origins(read.table.locations, tuple(read.table.lines))
        return Stage(
            name=kind.name,
            title=kind.title,
            language=kind.language,
            milliseconds=round(_since(start) if milliseconds is None else milliseconds, 3),
            text=read.text,
            raw=read.raw,
            locations=locations,
            line_locations=lines,
        )

    def _with_origins(
        self, locations: tuple[Location, ...], lines: tuple[tuple[int, ...], ...]
    ) -> tuple[tuple[Location, ...], tuple[tuple[int, ...], ...]]:
        """Add the lines that the kernel as a whole comes from to each line that has a location."""
        origins = self._specialization.origins if self._specialization is not None else ()
        if not origins:
            return locations, lines
        added = tuple(range(len(locations), len(locations) + len(origins)))
        return (*locations, *origins), tuple((*own, *added) if own else own for own in lines)

    def _diagnose(self, error: Exception) -> Diagnostic:
        """Return a diagnostic for a failure during lowering. Emit the compiler's other messages."""
        messages = self._new_messages()
        diagnostic = diagnose(error, messages, self._specialization, self._assembly, self._shown_stage())
        if self._edits.stage == "ptx" and self._restored is not None and (row := assembler_line(error)):
            line = self._restored.line(row)
            diagnostic = dataclasses.replace(diagnostic, stage="ptx", line=0, column=0, stage_line=line)
        for message in messages:
            if message.message not in diagnostic.message:
                self._emit(message)
        return diagnostic

    def _shown_stage(self) -> str:
        """Return the page's name of the stage that is being made."""
        kind = stage_produced_by(self._stage)
        return self._stage if kind is None else kind.name

    def _new_messages(self) -> list[Diagnostic]:
        """Return the compiler's new diagnostics. Emit its other output as a log."""
        errors: list[Diagnostic] = []
        text = self._output.new_text()
        if self._stage == "hsaco":
            errors, text = read_amd_assembler_errors(text, self._specialization, self._assembly)
        messages, rest = read_messages(text, self._shown_stage())
        if rest:
            self._emit(Log("compiler", rest))
        return [*errors, *messages]

    def _resources(self, artifacts: dict[str, Any]) -> Resources:
        """Return the resources that the binary needs, from its metadata and the assembler's report."""
        metadata = self._metadata
        warps = int(metadata["num_warps"])
        return dataclasses.replace(
            self._tools.read_resources(self._tool_log or str(artifacts.get("amdgcn", ""))),
            shared_bytes=metadata.get("shared"),
            tensor_memory_columns=metadata.get("tmem_size"),
            global_scratch_bytes=metadata.get("global_scratch_size"),
            warps=warps,
            threads=warps * self._target.warp_size,
        )

    def _check_limits(self, resources: Resources) -> None:
        """Check the limits that a launch would check.

        Raises:
            UserError: the binary needs more than the target has.
        """
        multiprocessor = self._target.device.multiprocessor
        most_bytes, most_threads = multiprocessor.shared_bytes_per_block, multiprocessor.threads_per_block
        if (resources.shared_bytes or 0) > most_bytes:
            self._refuse(
                f"{resources.shared_bytes:,} bytes of shared memory; a block on {self._target.architecture} "
                f"can have {most_bytes:,}",
                "Reduce the block sizes or num_stages."
                if self._has_buffers_of_stages
                else "Reduce the block sizes.",
            )
        if (resources.threads or 0) > most_threads:
            self._refuse(
                f"{resources.threads} threads; the limit of a block is {most_threads}",
                "Reduce num_warps.",
            )
        if (resources.tensor_memory_columns or 0) > TENSOR_MEMORY_COLUMNS:
            self._refuse(
                f"{resources.tensor_memory_columns} columns of tensor memory; the limit is "
                f"{TENSOR_MEMORY_COLUMNS}",
                "Reduce the block sizes.",
            )

    def _register_cliff(self, resources: Resources) -> Diagnostic | None:
        """Return a warning if ptxas has given up: it uses few registers, though nobody asked for that."""
        multiprocessor = self._target.device.multiprocessor
        registers, stored_bytes = resources.registers, resources.spill_stores_bytes or 0
        is_chosen = self._target.vendor != "NVIDIA" or ".maxnreg" in self._assembly
        if is_chosen or not registers or not resources.threads:
            return None
        possible = multiprocessor.registers_of_a_thread(resources.threads)
        if registers > possible * _CLIFF_SHARE or stored_bytes < _CLIFF_BYTES:
            return None
        return Diagnostic(
            "warning",
            f"ptxas has fallen back to {registers} of {possible} possible registers for each thread, whose "
            f"spills store {stored_bytes:,} bytes: the kernel has too many values at the same time. Few "
            "registers make the occupancy high, but each spilled value goes through memory.",
            "sass",
            self._specialization.described.line,
            hint="Use smaller tiles or more warps, so that each thread has fewer elements.",
            rule="register_cliff",
        )

    def _refuse(self, too_much: str, hint: str) -> NoReturn:
        message = f"The kernel needs {too_much}. It compiles but cannot be launched."
        stage, line = stages_of(self._target.backend)[-1], self._specialization.described.line
        raise UserError(Diagnostic("error", message, stage, line, hint=hint))


def _tool_name(step: str) -> str:
    return "ptxas" if step == "cubin" else "compiler"


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000


@contextlib.contextmanager
def _remarks_enabled() -> Iterator[None]:
    """Enable the remarks in which passes explain why they did not apply an optimization."""
    os.environ["MLIR_ENABLE_DIAGNOSTICS"] = "remarks"
    try:
        yield
    finally:
        del os.environ["MLIR_ENABLE_DIAGNOSTICS"]
