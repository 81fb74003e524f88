"""The request of a user: a kernel to compile, and how to run it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from explorer.model.basics import DeviceKind, LineNumber, Scalar
from explorer.model.measurements import MEASURES

#: The assumptions of the compiler about an argument beyond its type.
Specialization = Literal["", "divisible by 16", "equal to 1", "constexpr"]

#: The tasks for a script: compile a kernel, list kernels and launches, record LLVM's passes, record the
#: lineage of operations, show a compilation of another program, run a launch.
SCRIPT_TASKS = ("compile", "inspect", "llvm-passes", "lineage", "captured", "run")

#: The tasks that use nothing else of a request until the script has been executed.
_TASKS_AFTER_SCRIPT = ("compile", "inspect", "llvm-passes", "lineage")

#: The measures that a run can request: the measures of `explorer.model.measurements`.
if TYPE_CHECKING:
    Measure = str
else:
    Measure = Literal[tuple(MEASURES)]

Distribution = Literal["normal", "uniform", "integers", "ascending", "ones"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a kernel, as the just-in-time compiler sees it.

    `type` is Triton's signature type: "*fp16", "i32", "fp32", "constexpr", "tensordesc<fp16[64, 64]>".
    `value` is the value of a constexpr or of a known scalar; a value that JSON cannot represent is a `repr`.
    `shape` and `strides` (in elements) are known for tensors of a launch only.
    """

    name: str
    type: str
    value: Scalar = None
    specialization: Specialization = ""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class RunInput:
    """An argument to make for a kernel that no script launches.

    `shape` has one Python expression per dimension over the run's sizes ("n", "2 * m"). None: a scalar, whose
    `value` is an expression of this kind. `type` is Triton's signature type ("*fp16", "i32", "constexpr").
    """

    name: str
    type: str
    shape: tuple[str, ...] | None = None
    value: str = ""
    distribution: Distribution = "normal"


@dataclass(frozen=True, slots=True)
class Original:
    """Another form of the kernel of a request: the fields of the request that differ, or may differ."""

    source: str
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    constants: dict[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """How to run a kernel, and what to measure.

    The launch: with `inputs`, a launch with these inputs and the expressions of `grid`; with `is_benchmark`,
    the launch that the script's `perf_report` function makes at `sizes` (for missing sizes: its largest, in
    the interpreter its smallest); otherwise the launch of the script. `reference` is torch code for a script
    without a function `reference`: an expression, or statements with a return, over the kernel's arguments by
    name. `sweep_size` is the size that a sweep varies, over `sweep_values` (empty: the script's own).
    `attempt` distinguishes runs that are otherwise the same. With `original`, the kernel must write what the
    original writes for the same launch.
    """

    device: DeviceKind
    measures: tuple[Measure, ...] = ("check", "time")
    inputs: tuple[RunInput, ...] = ()
    grid: tuple[str, ...] = ()
    sizes: dict[str, int] = field(default_factory=dict)
    is_benchmark: bool = False
    reference: str = ""
    seed: int = 0
    repeats: int = 50
    sweep_size: str = ""
    sweep_values: tuple[int, ...] = ()
    attempt: int = 0
    original: Original | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of lines of a captured script: `lines` lines, from `line` of `file` on.

    The first line is `script_line` of the script.
    """

    file: str
    line: LineNumber
    lines: int
    script_line: LineNumber


#: Triton's names of the stages that are binaries.
BINARY_STAGES = ("cubin", "hsaco")

#: In place of the version of Triton, if the version that has made a kernel is unknown.
UNKNOWN_VERSION = "unknown"


@dataclass(frozen=True, slots=True)
class Captured:
    """A compilation of a running program: the stages by Triton's names, with the binary in base 64.

    `metadata` is Triton's metadata of the kernel, `milliseconds` the known times of the steps. `error` is the
    message of a compilation that failed. `triton` is the program's version, or `UNKNOWN_VERSION`.
    """

    kernel: str
    triton: str
    stages: dict[str, str] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    options: dict[str, Scalar] = field(default_factory=dict)
    metadata: dict[str, Scalar] = field(default_factory=dict)
    milliseconds: dict[str, float] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Edits:
    """The changes of stages and passes in a request.

    The later stages are made from `text`, which replaces the compiler's text of `stage` ("": no stage).
    `without_passes` are passes that do not run, `pass_options` are other values for options of passes. A pass
    is given by its name, which means every pass of the name, or by "name#2", which means the second pass of
    the name.
    """

    stage: str = ""
    text: str = ""
    without_passes: tuple[str, ...] = ()
    pass_options: dict[str, dict[str, Scalar]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineEdit:
    """Line `line` of a source, from 1, becomes `text`."""

    line: LineNumber
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """Everything that determines a result. Its hash is the address of the result.

    Either `launch` (an index into the launches that executing the source makes) or `arguments` (a tuple of
    `Argument`, or a signature string such as "*fp16:16, i32, 128") selects the specialization to compile.
    With neither, the first launch of the kernel is compiled. `config` is an index into the autotune
    configurations of the kernel. `options` overrides compiler options: num_warps, num_stages, num_ctas,
    maxnreg, … `constants` are other values for constexpr arguments, by name; a grid that the script computes
    from them follows. `task` is one of `SCRIPT_TASKS`, or the name of a compiler query
    (`explorer.pipeline.compiler_queries`). For a compiler query, `source` is the text to query, in place of a
    user's source, and `options` are the parameters of the query. `run` says how to run the kernel if that is
    the task. `files` are the texts of further files that the script imports, by their paths below a common
    folder, and `path` is the path of the script. `assumed` are numbers that replace the values that the
    script reads from tensors without content, by places ("12" is a line of the script, "tools.py:3" of
    another file). `script_arguments` are the arguments of the script, written as in a shell. `captured` is
    the compilation of the kernel by another program. `imported` is the SHA-256 of the measurements of `run`
    by another machine; empty: this machine measures the run. `edits` change stages and passes. `private` is
    the secret key of a private result; "": the result is public. Equal requests with different keys have
    different results, and nobody can guess the address of a private result.
    """

    source: str
    target: str
    triton: str
    kernel: str | None = None
    launch: int | None = None
    arguments: tuple[Argument, ...] | str | None = None
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    constants: dict[str, Scalar] = field(default_factory=dict)
    task: str = "compile"
    run: Run | None = None
    path: str = ""
    files: dict[str, str] = field(default_factory=dict)
    assumed: dict[str, int] = field(default_factory=dict)
    script_arguments: str = ""
    captured: Captured | None = None
    imported: str = ""
    edits: Edits | None = None
    private: str = ""

    @property
    def script(self) -> Request | None:
        """The part of the request that determines what its script executes, or None.

        Jobs with equal parts may share the process that has executed the script. The part includes the
        arguments, which may contain expressions. Edits, and options that programs read as texts, could attack
        the process, so a request with edits shares none.
        """
        if self.task not in _TASKS_AFTER_SCRIPT or self.edits is not None or "ptx_options" in self.options:
            return None
        return Request(
            self.source,
            self.target,
            self.triton,
            arguments=self.arguments,
            path=self.path,
            files=self.files,
            assumed=self.assumed,
            script_arguments=self.script_arguments,
            private=self.private,
        )

    @property
    def size_bytes(self) -> int:
        """The length of all texts, in UTF-8."""
        captured = self.captured.stages.values() if self.captured is not None else ()
        edited = self.edits.text if self.edits is not None else ""
        original = self.run.original.source if self.run is not None and self.run.original is not None else ""
        texts = (self.source, self.script_arguments, edited, original, *self.files.values(), *captured)
        return sum(len(text.encode("utf-8", "replace")) for text in texts)
