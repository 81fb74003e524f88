"""What comes out of the sandbox, one event after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from explorer.model.kernels import Kernel, Launch
from explorer.model.requests import Argument, LineNumber, Scalar

Severity = Literal["error", "warning", "remark", "note"]


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
