"""The types that cross every border: frozen dataclasses over the standard library, nothing else.

In: what a user asks for (`Request`). Out of the sandbox: one `Event` after another, each one JSON
object on a line of its own. Both sides of the wall import this module, so it must stay free of any
dependency; the web side checks every field on arrival (`explorer.sandbox.protocol`).

Conventions: lines and columns are counted from 1; durations are milliseconds; sizes are bytes.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, get_args

LineNumber = int
Scalar = str | int | float | bool | None

#: What the compiler assumes about an argument beyond its type.
Specialization = Literal["", "divisible by 16", "equal to 1", "constexpr"]
Severity = Literal["error", "warning", "remark", "note"]


#: What is done with a user's script: compile a kernel, list what it holds, watch LLVM compile it, run it.
SCRIPT_TASKS = ("compile", "inspect", "llvm-passes", "run")

#: What a run can find out, beyond that the kernel runs: see `explorer.measurements`.
Measure = Literal["check", "time", "counts", "counters", "samples", "timeline", "sweep", "autotune", "roofs"]
Distribution = Literal["normal", "uniform", "integers", "ascending", "ones"]


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel, as the just-in-time compiler would see it.

    `type` is Triton's own signature type: "*fp16", "i32", "fp32", "constexpr", "tensordesc<fp16[64, 64]>".
    `value` is the value of a constexpr or of a known scalar; what JSON cannot carry is its `repr`.
    `shape` and `strides` (in elements) are known for tensors of a launch only.
    """

    name: str
    type: str
    value: Scalar = None
    specialization: Specialization = ""
    shape: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


@dataclass(frozen=True)
class RunInput:
    """An argument to make for a kernel that no script launches.

    `shape` holds one Python expression a dimension over the run's sizes ("n", "2 * m"); None: a scalar,
    whose `value` is such an expression. `type` is Triton's signature type ("*fp16", "i32", "constexpr").
    """

    name: str
    type: str
    shape: tuple[str, ...] | None = None
    value: str = ""
    distribution: Distribution = "normal"


@dataclass(frozen=True)
class Run:
    """How to run a kernel, and what to measure.

    What is launched: with `inputs`, those and the expressions of `grid`; otherwise what the script
    launches, or, with `is_benchmark`, what its `perf_report` function launches at `sizes` (left out: at the
    largest of its own, in the interpreter the smallest). `reference` is torch code for a script
    without a function `reference`: an expression, or a body that returns, over the kernel's arguments by
    name.
    `sweep_size` is the size that a sweep varies, over `sweep_values` (empty: the script's own).
    `attempt` tells runs apart that are the same in all else.
    """

    device: Literal["interpreter", "gpu"]
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


@dataclass(frozen=True)
class Request:
    """Everything that decides the answer; its hash is the address of the result.

    Exactly one way to say what to compile: `launch` (an index into the launches found by running the
    source), or `arguments` (a tuple of `Argument`, or a signature string such as "*fp16:16, i32, 128").
    With neither, the only launch of the kernel is taken, or the first.
    `config` is an index into the autotune configurations of the kernel.
    `options` overrides compiler options: num_warps, num_stages, num_ctas, maxnreg, …
    `task` is one of `SCRIPT_TASKS`, or the name of something to be found out about what a compilation has
    made (`explorer.pipeline.questions`); `source` is then the text to look at, in the place of a user's
    source, and `options` are the question's own. `run` says how to run it when that is the task.
    """

    source: str
    target: str
    triton: str
    kernel: str | None = None
    launch: int | None = None
    arguments: tuple[Argument, ...] | str | None = None
    config: int | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    task: str = "compile"
    run: Run | None = None


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel's signature, with a guess for a form that has no launch to go by."""

    name: str
    annotation: str
    is_constexpr: bool
    default: Scalar
    has_default: bool
    guess: Argument


@dataclass(frozen=True)
class Config:
    """One autotune configuration: the constexpr arguments it sets, and the compiler options."""

    index: int
    arguments: dict[str, Scalar]
    options: dict[str, Scalar]


@dataclass(frozen=True)
class Kernel:
    """A `@triton.jit` or `@gluon.jit` function of the source that is not only called by others."""

    name: str
    line: LineNumber
    language: Literal["triton", "gluon"]
    parameters: tuple[Parameter, ...]
    configs: tuple[Config, ...] = ()


@dataclass(frozen=True)
class Launch:
    """One launch that running the source has made, with the specialisation it leads to.

    `config` is the index of the autotune configuration that is compiled when none is asked for.
    """

    index: int
    kernel: str
    line: LineNumber
    grid: tuple[int, ...] | None
    arguments: tuple[Argument, ...]
    options: dict[str, Scalar]
    config: int | None = None


@dataclass(frozen=True)
class Frame:
    """A place in a source. `file` is "" for the user's own source."""

    file: str
    line: LineNumber
    column: int = 0
    function: str = ""


@dataclass(frozen=True)
class Location:
    """Where a line of a stage comes from: the innermost frame first, then its callers."""

    frames: tuple[Frame, ...]

    @property
    def source_line(self) -> LineNumber:
        """The innermost line in the user's own source: for a library function, that of its call. 0: none."""
        return next((frame.line for frame in self.frames if frame.file == "" and frame.line > 0), 0)


# --- events -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inspection:
    """What the source holds: its kernels, and the launches that running it has made."""

    kind: ClassVar[str] = "inspection"
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]


@dataclass(frozen=True)
class Specialized:
    """What is being compiled, once it is decided."""

    kind: ClassVar[str] = "specialized"
    kernel: str
    line: LineNumber
    language: Literal["triton", "gluon"]
    arguments: tuple[Argument, ...]
    options: dict[str, Scalar]
    signature: str
    launch: int | None = None
    launch_line: LineNumber | None = None
    config: int | None = None
    grid: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Stage:
    """One stage of the lowering, whole.

    `text` is what the page shows; `raw` is what the tool printed, where that differs (None: the same).
    `line_locations[i]` are indices into `locations` for line i+1 of `text`; the first is the line's own
    location, further ones are those it was fused with.
    """

    kind: ClassVar[str] = "stage"
    name: str
    title: str
    language: str
    milliseconds: float
    text: str
    raw: str | None = None
    locations: tuple[Location, ...] = ()
    line_locations: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Pass:
    """One compiler pass. `text` is the module after it, without locations; None: it changed nothing.

    `failed`: the compiler has given up in it, so that it is the last one.

    `stage` is the stage that the pass helps to produce, `name` the pass as the backend calls it
    ("ttgpuir.coalesce"), `options` its arguments in order.
    """

    kind: ClassVar[str] = "pass"
    index: int
    stage: str
    name: str
    title: str
    options: tuple[Scalar, ...]
    milliseconds: float
    text: str | None = None
    failed: bool = False


@dataclass(frozen=True)
class Resources:
    """What the binary needs, as the assembler and the binary's own metadata say. None: not said."""

    kind: ClassVar[str] = "resources"
    registers: int | None = None
    scalar_registers: int | None = None
    spill_stores_bytes: int | None = None
    spill_loads_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    tensor_memory_columns: int | None = None
    global_scratch_bytes: int | None = None
    constant_bytes: int | None = None
    barriers: int | None = None
    warps: int | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Binary:
    """The binary itself: "cubin" or "hsaco", in base 64."""

    kind: ClassVar[str] = "binary"
    name: str
    data: str


@dataclass(frozen=True)
class Buffer:
    """A piece of shared memory, as the compiler's allocation has placed it.

    `use` is "explicit" (the program asks for it), "scratch" (an operation needs it while it runs) or
    "virtual" (what a called function needs). It is alive from the operation `start` to before `end`,
    positions in the order of operations in which the compiler has looked at them; None: to the end of the
    function, whichever way it is left. `owner` is the operation, as text.
    """

    index: int
    use: Literal["explicit", "scratch", "virtual"]
    size_bytes: int
    offset_bytes: int
    start: int
    end: int | None
    owner: str


@dataclass(frozen=True)
class Allocation:
    """Where the buffers of one function lie in shared memory.

    `pass_index` is the pass that has decided it: the module after it is what the positions count in.
    `function` counts the functions, those that are called before those that call them. `source_lines[i]` is
    the line of the user's source that line i+1 of that module comes from (0: none).
    """

    kind: ClassVar[str] = "allocation"
    pass_index: int
    function: int
    buffers: tuple[Buffer, ...]
    shared_bytes: int
    source_lines: tuple[LineNumber, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a question has found out: `document` is JSON, of the type that the question names."""

    kind: ClassVar[str] = "answer"
    document: str


@dataclass(frozen=True)
class Measurement:
    """What a run has found out: `document` is JSON, of the type of `name` in `explorer.measurements`."""

    kind: ClassVar[str] = "measurement"
    name: str
    document: str


@dataclass(frozen=True)
class Progress:
    """How far a job is: `done` of `total` steps, and what it does now. Not kept."""

    kind: ClassVar[str] = "progress"
    done: int
    total: int
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """A message for the user. `line` is in the user's source (0: no line); `hint` says what to do."""

    kind: ClassVar[str] = "diagnostic"
    severity: Severity
    message: str
    stage: str = ""
    line: LineNumber = 0
    column: int = 0
    end_line: LineNumber = 0
    end_column: int = 0
    hint: str = ""


@dataclass(frozen=True)
class Log:
    """Output of a tool or of the user's own code. `source` names it: "stdout", "ptxas", …"""

    kind: ClassVar[str] = "log"
    source: str
    text: str


@dataclass(frozen=True)
class Done:
    """The last event of every job.

    `is_transient`: it was stopped from outside (a limit, a crash, a cancellation), so that another attempt
    may end in another way.
    """

    kind: ClassVar[str] = "done"
    status: Literal["complete", "failed"]
    milliseconds: float
    is_transient: bool = False


Event = (
    Inspection
    | Specialized
    | Stage
    | Pass
    | Resources
    | Binary
    | Allocation
    | Answer
    | Measurement
    | Progress
    | Diagnostic
    | Log
    | Done
)
EVENT_TYPES: dict[str, type[Event]] = {event_type.kind: event_type for event_type in get_args(Event)}


def to_plain(value: Any) -> Any:
    """Turn dataclasses into dicts, all the way down, without copying what is plain already."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    return value


def decode_request(data: bytes) -> Request:
    """Read a request from JSON that our own side of the wall has written: nothing is checked."""
    fields = json.loads(data)
    if isinstance(fields.get("arguments"), list):
        fields["arguments"] = tuple(_decode_argument(**argument) for argument in fields["arguments"])
    if fields.get("run") is not None:
        fields["run"] = _decode_run(**fields["run"])
    return Request(**fields)


def _decode_run(inputs: list[dict[str, Any]], **fields: Any) -> Run:
    """Lists become tuples here, too."""
    made = tuple(
        RunInput(**{**each, "shape": None if each["shape"] is None else tuple(each["shape"])})
        for each in inputs
    )
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return Run(inputs=made, **plain)


def _decode_argument(
    shape: list[int] | None = None, strides: list[int] | None = None, **fields: Any
) -> Argument:
    """Lists become tuples: an argument must be hashable."""
    return Argument(
        **fields,
        shape=None if shape is None else tuple(shape),
        strides=None if strides is None else tuple(strides),
    )


def encode_event(event: Event) -> bytes:
    """One line of JSON with the event's kind under "event". Lone surrogates become "?"."""
    plain = {"event": event.kind, **to_plain(event)}
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", errors="replace") + b"\n"
