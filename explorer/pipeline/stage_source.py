"""A source that is the text of a stage: the compiler continues from it.

In: a request whose source is TTIR, Gluon IR, TTGIR, LLVM IR, PTX or AMDGCN. Out: the specialization, and the
artifact that Triton's next step takes. The text itself specifies its target and its number of warps.

Operations get the lines of the text as their locations. Locations in a text refer to another file, and are
left out.

Source: `IRSource` of triton.compiler.compiler, 3.6 and 3.9.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from explorer.model import Diagnostic, Frame, Inspection, Kernel, Request, Specialized
from explorer.model.hardware import TARGETS, Target
from explorer.model.source_language import source_language
from explorer.pipeline import user_source
from explorer.pipeline.edited import ParseError, Restored, check_kernel, editable_stage, parse_module
from explorer.pipeline.errors import UserError
from explorer.pipeline.locations import LocationTable
from explorer.pipeline.lowering import Lowering, make_context
from explorer.pipeline.specialize import Specialization, check_options
from explorer.pipeline.stages import Artifact, StageKind, StageText
from explorer.pipeline.stages.mlir import line_without_locations
from explorer.pipeline.stages.ptx import correct_line_information
from explorer.pipeline.tool_output import ToolOutput
from explorer.pipeline.user_source import SOURCE_FILE

_MLIR = ("ttir", "glir", "ttgir")
#: The names of the target in the text of a stage: "cuda:90", "sm_90a", "gfx942".
_TARGETS = {
    "ttgir": re.compile(r'\bttg\.target"? = "([\w:-]+)"'),
    "glir": re.compile(r'\bttg\.target"? = "([\w:-]+)"'),
    "llir": re.compile(r'"target-cpu"="([\w-]+)"'),
    "ptx": re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE),
    "amdgcn": re.compile(r'^\s*\.amdgcn_target\s+"[\w.]+-amd-amdhsa-\w*-(gfx\w+)', re.MULTILINE),
}
#: The calling conventions of kernels in LLVM IR.
_BACKENDS = {"ptx_kernel": "cuda", "amdgpu_kernel": "hip"}
_CONVENTION = re.compile(r"^define [^@\n]*\b(ptx_kernel|amdgpu_kernel) ", re.MULTILINE)
_THREADS = re.compile(
    r'"nvvm\.(?:req|max)ntid"="(\d+)|^\s*\.(?:req|max)ntid\s+(\d+)'
    r'|"amdgpu-flat-work-group-size"="\d+,(\d+)"|^\s*\.max_flat_workgroup_size:\s*(\d+)',
    re.MULTILINE,
)


def threads_of(text: str) -> int | None:
    """Return the threads of a block in the text of LLVM IR or assembly; None: unspecified."""
    found = _THREADS.search(text)
    return int(next(filter(None, found.groups()))) if found else None


@dataclass(frozen=True)
class StageSource:
    """A source that is the text of a stage."""

    kind: StageKind
    text: str
    kernel: str
    line: int

    @property
    def restored(self) -> Restored:
        """The text to compile, with the line of the source of each of its lines."""
        lines = self.text.split("\n")
        if self.kind.name in _MLIR:
            shown = "\n".join(map(line_without_locations, lines))
            return Restored(shown, tuple(range(1, len(lines) + 1)))
        if self.kind.name != "ptx":
            return Restored(self.text, tuple(range(1, len(lines) + 1)))
        rest = enumerate(lines, 1)
        corrected = correct_line_information(self.text)
        numbers = (next(number for number, line in rest if line == kept) for kept in corrected.split("\n"))
        return Restored(corrected, tuple(numbers))

    def read(self, kind: StageKind, artifact: Artifact) -> StageText:
        """Read this stage or a later one, with lines of the source as its locations."""
        table = LocationTable()
        if kind is self.kind:
            read = kind.read(Artifact(self.text))
            for index in read.raw_lines:
                table.add_line([(Frame("", index + 1),)])
            return replace(read, table=table)
        read = kind.read(artifact)
        if self.kind.name in _MLIR:
            return read
        for _ in read.table.lines:  # The debug information of a text names another file.
            table.add_line()
        return replace(read, table=table)

    def at_source(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic with its place in the stage as a place in the source."""
        if not diagnostic.stage_line or diagnostic.stage != self.kind.name:
            return diagnostic
        return replace(diagnostic, line=diagnostic.stage_line, stage_line=0)

    def inspection(self) -> Inspection:
        """Return the contents of the source: a kernel, without launches."""
        return Inspection((Kernel(self.kernel, self.line, self.kind.language, ()),), ())  # type: ignore[arg-type]  # the languages of kernels include the languages of stages

    def specialization(self, request: Request, target: Target) -> Specialization:
        """Return the specialization that a request compiles from this source.

        Raises:
            UserError: the request selects something that a text does not have.
        """
        if request.kernel not in (None, self.kernel):
            raise self.error(
                f"The source has no kernel {request.kernel!r}. It has {self.kernel!r}.", self.line
            )
        if request.arguments is not None or request.launch is not None or request.config is not None:
            raise self.error(
                f"The {self.kind.title} of a kernel has no launch and no arguments to choose.",
                self.line,
                "Change them where the Python source is compiled.",
            )
        if request.edits is not None and request.edits.stage:
            raise self.error(
                f"A source in {self.kind.title} cannot have an edited stage.",
                hint="Edit the source, or use the text of the later stage as the source.",
            )
        check_options(request, target)
        self._check_target(target)
        described = Specialized(
            kernel=self.kernel,
            line=self.line,
            language=self.kind.language,  # type: ignore[arg-type]
            arguments=(),
            options=dict(request.options),
            signature="",
        )
        return Specialization(None, {}, {}, {}, dict(request.options), described, stage_source=self)

    def begin(
        self, specialization: Specialization, target: Target, output: ToolOutput
    ) -> tuple[Lowering, Any]:
        """Return the lowering, and the artifact that the step after this stage takes.

        Raises:
            UserError: the text is not valid, at its line.
        """
        if self.kind.name not in _MLIR:
            threads = threads_of(self.text)
            own = {} if threads is None else {"num_warps": max(1, threads // target.warp_size)}
            return self._lowering(specialization, target, own), self.restored.text
        try:
            # The path becomes the location of operations.
            with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
                module = parse_module(self.restored.text, make_context(target), Path(SOURCE_FILE), output)
        except ParseError as error:
            raise error.diagnostic(self.kind.name, self.restored) from error
        return self._lowering(specialization, target, self._options_of(module)), module

    def error(self, message: str, line: int = 0, hint: str = "") -> UserError:
        return UserError(Diagnostic("error", message, self.kind.name, line, hint=hint))

    def _lowering(self, specialization: Specialization, target: Target, own: dict[str, int]) -> Lowering:
        for name, value in own.items():
            if specialization.options.get(name, value) != value:
                raise self.error(
                    f"The option {name} is {specialization.options[name]}, but the text is for {value}.",
                    self.line,
                    "Leave out the option, or change the text.",
                )
        return Lowering(target, {**specialization.options, **own}, is_gluon=self.kind.name == "glir")

    def _options_of(self, module: Any) -> dict[str, int]:
        """Return the options that the attributes of a module specify."""
        if self.kind.name == "ttir":
            return {}
        options = {
            option: value
            for option, name in (("num_warps", "ttg.num-warps"), ("num_ctas", "ttg.num-ctas"))
            if (value := module.get_int_attr(name)) is not None
        }
        if "num_warps" not in options:
            hint = 'Add "ttg.num-warps" = 4 : i32 to the attributes of the module.'
            raise self.error("The module has no attribute ttg.num-warps.", 1, hint)
        return options

    def _check_target(self, target: Target) -> None:
        """Raise the error of a text that is for another target."""
        if target.backend not in self.kind.backends:
            raise self.error(
                f"{target.title} ({target.name}) has no {self.kind.title}.", hint="Choose another target."
            )
        pattern = _TARGETS.get(self.kind.name)
        found = pattern.search(self.text) if pattern else None
        if found is not None:
            named = re.sub(r"^(sm_\d+)[af]$", r"\1", found[1])
            if named not in (target.name, target.architecture):
                raise self._other_target(named, self._line(found.start(1)), target)
        elif self.kind.name in ("ttgir", "glir"):
            hint = f'Add ttg.target = "{target.name}" to the attributes of the module.'
            raise self.error("The module has no attribute ttg.target.", 1, hint)
        convention = _CONVENTION.search(self.text) if self.kind.name == "llir" else None
        if convention is not None and _BACKENDS[convention[1]] != target.backend:
            raise self._other_target(convention[1], self._line(convention.start(1)), target)

    def _other_target(self, named: str, line: int, target: Target) -> UserError:
        fitting = [each.name for each in TARGETS if named in (each.name, each.architecture)]
        fitting = fitting or [each.name for each in TARGETS if each.backend == _BACKENDS.get(named)]
        hint = f"Choose the target {' or '.join(fitting)}." if fitting else "Change the target of the text."
        return self.error(f"The text is for {named}, not for {target.name}.", line, hint)

    def _line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1


def find_stage_source(source: str) -> StageSource | None:
    """Return the stage whose text a source is; None: the source is Python.

    Raises:
        UserError: the text has no kernel.
    """
    language = source_language(source)
    if language == "python":
        return None
    text = user_source.normalize(source)
    user_source.register_script(text)
    kind = editable_stage(language)
    assert kind.kernel is not None
    kernel = check_kernel(kind, text)
    found = kind.kernel.search(text)
    return StageSource(kind, text, kernel, text.count("\n", 0, found.start(1)) + 1 if found else 0)
