"""Shows a compilation of a running program: the stages that Triton made there, read like stages made here.

In: a request with a captured compilation. Out: the events of a compilation, without passes. Nothing is
compiled. The assembler runs once more on the captured PTX, because only its report has the spills; the report
counts if the machine code is the machine code of the program.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
from collections.abc import Callable
from typing import Any

from explorer.model import (
    UNKNOWN_VERSION,
    Binary,
    Captured,
    Diagnostic,
    Event,
    Frame,
    Location,
    Request,
    Resources,
    Specialized,
    Stage,
)
from explorer.model.hardware import Target
from explorer.pipeline.compile import Compilation
from explorer.pipeline.errors import UserError
from explorer.pipeline.functions import definition_line, function_trees
from explorer.pipeline.lowering import Lowering, Make
from explorer.pipeline.module import SourceContents
from explorer.pipeline.specialize import Specialization, resolve
from explorer.pipeline.stages import STAGES
from explorer.pipeline.stages.sass import DisassemblerError, resource_usage
from explorer.pipeline.targets import tools_of
from explorer.pipeline.targets.machine_code import machine_code_digest
from explorer.pipeline.targets.nvidia import read_cubin_resources

Emit = Callable[[Event], None]

#: Not `ptx_options`: the author of the metadata must not choose the command line of a program.
_ASSEMBLER_OPTIONS = ("num_warps", "num_ctas", "maxnreg", "enable_fp_fusion")


def show_captured(found: SourceContents, request: Request, target: Target, emit: Emit) -> None:
    """Emit the events of a captured compilation.

    Raises:
        UserError: the compilation failed in the program; the message comes from the program's compiler.
    """
    captured = request.captured
    assert captured is not None
    specialization: Specialization | None = None
    try:
        if _has_no_launch(found):  # a guess would show a different specialization than the program's
            if captured.stages.keys() != {tools_of(target).binary}:  # a binary never has a launch
                emit(Diagnostic("note", "The script does not repeat the launch: it has none."))
            emit(_described(found, captured))
        else:
            specialization = resolve(found, request, target)
            emit(specialization.described)
    except UserError as error:
        message = f"The script does not repeat the launch: {error.diagnostic.message}"
        emit(dataclasses.replace(error.diagnostic, severity="warning", message=message))
        emit(_described(found, captured))
    CapturedStages(specialization, target, captured, emit).run()


class CapturedStages(Compilation):
    """Reads the stages of a program in place of making them."""

    def __init__(
        self, specialization: Specialization | None, target: Target, captured: Captured, emit: Emit
    ) -> None:
        super().__init__(specialization, target, emit)  # type: ignore[arg-type]  # only `run` here uses it
        self._captured = captured
        self._own = specialization
        self._kernel = captured.kernel

    def run(self) -> None:
        """Emit each stage, the resources and the binary.

        Raises:
            UserError: the compilation failed in the program.
        """
        captured, binary_name = self._captured, self._tools.binary
        if self._own is not None:
            self._emit_stage("source", function_trees(self._own.jit_function))
        for step in (kind.produced_by for kind in STAGES):
            if step in captured.stages and step not in ("source", binary_name):
                self._emit_read(step, captured.stages[step], captured.milliseconds.get(step, 0.0))
        if captured.error:
            line = 0 if self._own is None else definition_line(self._own.jit_function)
            raise UserError(Diagnostic("error", captured.error.strip(), line=line))
        if (encoded := captured.stages.get(binary_name)) is None:
            self._emit(self._noted_resources(Resources()))
            self._emit(Diagnostic("warning", "The program kept no binary of this kernel."))
            return
        binary = base64.b64decode(encoded)
        self._emit(self._captured_resources(binary))
        self._emit(Binary(binary_name, encoded, captured.milliseconds.get(binary_name)))
        self._emit_read(binary_name, binary, captured.milliseconds.get(binary_name, 0.0))

    def _emit_read(self, name: str, value: Any, milliseconds: float) -> None:
        event = self._read(name, value, milliseconds)
        if isinstance(event, Stage):
            event = dataclasses.replace(event, locations=tuple(map(self._in_script, event.locations)))
        self._emit_if_any(event)

    def _in_script(self, location: Location) -> Location:
        return Location(tuple(map(self._frame_in_script, location.frames)))

    def _frame_in_script(self, frame: Frame) -> Frame:
        """Return the line of the script that has the text of a line of the program."""
        for origin in self._captured.origins:
            # Some tools print the name of a file without its folder.
            is_same = frame.file in (origin.file, origin.file.rsplit("/", 1)[-1])
            if is_same and origin.line <= frame.line < origin.line + origin.lines:
                return dataclasses.replace(frame, file="", line=frame.line - origin.line + origin.script_line)
        return frame

    def _captured_resources(self, binary: bytes) -> Resources:
        """Return the resources from Triton's metadata and the assembler's report, or else from the binary."""
        report = self._assembler_report(binary)
        return self._noted_resources(
            tools_of(self._target).read_resources(report) if report else self._stated_resources(binary)
        )

    def _noted_resources(self, resources: Resources) -> Resources:
        """Return resources with the resources in Triton's metadata."""
        noted = self._captured.metadata
        warps = _integer(noted.get("num_warps"))
        return dataclasses.replace(
            resources,
            shared_bytes=_integer(noted.get("shared")),
            tensor_memory_columns=_integer(noted.get("tmem_size")),
            global_scratch_bytes=_integer(noted.get("global_scratch_size")),
            warps=warps,
            threads=None if warps is None else warps * self._target.warp_size,
        )

    def _stated_resources(self, binary: bytes) -> Resources:
        """Return the resources that the binary itself specifies."""
        if self._tools.binary != "cubin":
            return Resources()
        try:
            return read_cubin_resources(binary, resource_usage(binary), self._captured.kernel)
        except DisassemblerError:  # the stage shows the error
            return Resources()

    def _assembler_report(self, binary: bytes) -> str:
        """Return the assembler's report about the captured assembly; "": it is about another binary."""
        from triton import __version__, knobs

        stages = self._captured.stages
        if "amdgcn" in stages:
            return stages["amdgcn"]
        # If the version is not known, the machine code shows whether it is the same.
        if "ptx" not in stages or self._captured.triton not in (__version__, UNKNOWN_VERSION):
            return ""
        printed = io.StringIO()
        knobs.nvidia.dump_ptxas_log = True
        try:
            assemble, metadata = self._assembler()
            with contextlib.redirect_stdout(printed):
                made = assemble(stages["ptx"], metadata)
        except Exception as error:  # it is not the program's assembler, or not its text
            return self._without_report(f"the assembler failed here ({type(error).__name__})")
        finally:
            knobs.nvidia.dump_ptxas_log = False
        # With line information, some assemblers write the time of a source file, which is not here.
        if made != binary and machine_code_digest(made) != machine_code_digest(binary):
            return self._without_report("the assembler makes other machine code here")
        return printed.getvalue()

    def _assembler(self) -> tuple[Make, dict[str, Any]]:
        """Return the last step, with the options of the launch or of the program's metadata."""
        if self._own is not None:
            lowering = Lowering.of(self._own, self._target)
        else:
            noted = self._captured.metadata
            options = {name: noted[name] for name in _ASSEMBLER_OPTIONS if noted.get(name) is not None}
            lowering = Lowering(self._target, options)
        return lowering.steps()[self._tools.binary], lowering.metadata

    def _without_report(self, reason: str) -> str:
        message = f"The spills of the program's binary are not known: {reason}."
        self._emit(Diagnostic("note", message))
        return ""


def _has_no_launch(found: SourceContents) -> bool:
    return not found.launches and all(each.severity != "error" for each in found.diagnostics)


def _described(found: SourceContents, captured: Captured) -> Specialized:
    """Return the known specialization of a kernel whose script does not repeat its launch."""
    kernel = next((each.info for each in found.kernels if each.info.name == captured.kernel), None)
    return Specialized(
        kernel=captured.kernel,
        line=kernel.line if kernel else 0,
        language=kernel.language if kernel else "triton",
        arguments=(),
        options=dict(captured.options),
        signature="",
    )


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
