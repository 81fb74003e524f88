"""The events of a job, in the order in which they leave the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from explorer.model.basics import LineNumber, Scalar
from explorer.model.kernels import AssumedNumber, Kernel, Launch, OutputCode
from explorer.model.requests import Argument
from explorer.model.source_language import KernelLanguage

Severity = Literal["error", "warning", "remark", "note"]
#: How a job ends. "kernels_found": a program with `torch.compile` is not compiled itself; its kernels are in
#: the output code.
Outcome = Literal["complete", "failed", "kernels_found"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A position in a source. `file` is "" for the script, and the path of a file beside it."""

    file: str
    line: LineNumber
    column: int = 0
    function: str = ""


@dataclass(frozen=True, slots=True)
class Location:
    """The origin of a line of a stage: the innermost frame first, then its callers."""

    frames: tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """The contents of a source: its kernels, and the launches that executing it makes.

    `assumed` are the numbers that were assumed where the script reads a number that only a GPU could compute.
    `output_code` has the kernels of a script that defines no kernel and calls a function returned by
    `torch.compile`.
    """

    kind: ClassVar[str] = "inspection"
    kernels: tuple[Kernel, ...]
    launches: tuple[Launch, ...]
    assumed: tuple[AssumedNumber, ...] = ()
    output_code: OutputCode | None = None


@dataclass(frozen=True, slots=True)
class Specialized:
    """The kernel and the specialization that are compiled.

    `guesses` has the reason for each guessed argument, by name. It is empty if a launch or the user
    determines the arguments. `within_2_gib` names the pointers that the AMD backend gives
    `tt.pointer_range = 32`: their tensors are within 2 GiB.
    """

    kind: ClassVar[str] = "specialized"
    kernel: str
    line: LineNumber
    language: KernelLanguage
    arguments: tuple[Argument, ...]
    options: dict[str, Scalar]
    signature: str
    launch: int | None = None
    launch_line: LineNumber | None = None
    config: int | None = None
    grid: tuple[int, ...] | None = None
    guesses: dict[str, str] = field(default_factory=dict)
    within_2_gib: tuple[str, ...] = ()

    @property
    def launch_values(self) -> tuple[dict[str, int], tuple[int, ...]] | None:
        """The values of the integer arguments, and the grid; None if no launch determines them."""
        if self.grid is None or self.guesses:
            return None
        return {each.name: each.value for each in self.arguments if type(each.value) is int}, self.grid


@dataclass(frozen=True, slots=True)
class Stage:
    """One complete stage of the lowering.

    `text` is the shown text, `raw` the output of the tool; None: the same. `line_locations[i]` are indices
    into `locations` for line i+1 of `text`: first the line's own location, then the locations that it was
    fused with.
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


@dataclass(frozen=True, slots=True)
class Pass:
    """One compiler pass. `text` is the module after it, without locations; None: the module is unchanged.

    `failed`: the compilation failed in this pass, so it is the last one. `omitted` says why the module after
    the pass is not known, "" if it is: then `text` is None as well.

    `stage` is the stage that the pass helps to produce, `name` the backend's name of the pass
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
    omitted: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources that the binary needs, from the assembler and the binary's metadata. None: not reported.

    `shared_bytes` is the shared memory that the compiler requests from a launch, `static_shared_bytes` the
    additional shared memory of the binary.
    """

    kind: ClassVar[str] = "resources"
    registers: int | None = None
    scalar_registers: int | None = None
    spill_stores_bytes: int | None = None
    spill_loads_bytes: int | None = None
    stack_bytes: int | None = None
    shared_bytes: int | None = None
    static_shared_bytes: int | None = None
    tensor_memory_columns: int | None = None
    global_scratch_bytes: int | None = None
    constant_bytes: int | None = None
    barriers: int | None = None
    warps: int | None = None
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class Binary:
    """The binary itself: "cubin" or "hsaco", in base 64.

    `milliseconds` is the time of the assembler and the linker that made it; None: not known.
    """

    kind: ClassVar[str] = "binary"
    name: str
    data: str
    milliseconds: float | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of shared memory, as the compiler allocated it.

    `use` is "explicit" (the program requests it), "scratch" (an operation needs it while it executes) or
    "virtual" (a called function needs it). The buffer is live from the operation `start` to before `end`:
    positions in the order in which the compiler visits the operations. None: live until the function returns.
    `owner` is the operation, as text.
    """

    index: int
    use: Literal["explicit", "scratch", "virtual"]
    size_bytes: int
    offset_bytes: int
    start: int
    end: int | None
    owner: str


@dataclass(frozen=True, slots=True)
class Allocation:
    """The positions of the buffers of one function in shared memory.

    `pass_index` is the pass that allocated them; positions count operations of the module after it.
    `function` is the index of the function: called functions come before their callers. `source_lines[i]` is
    the line of the user's source for line i+1 of that module (0: none).
    """

    kind: ClassVar[str] = "allocation"
    pass_index: int
    function: int
    buffers: tuple[Buffer, ...]
    shared_bytes: int
    source_lines: tuple[LineNumber, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a compiler query. `document` is JSON of the type that the query declares."""

    kind: ClassVar[str] = "answer"
    document: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """A result of a run. `document` is JSON of the type that `explorer.model.measurements` has for `name`."""

    kind: ClassVar[str] = "measurement"
    name: str
    document: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a job: `done` of `total` steps, and its current activity. Not stored."""

    kind: ClassVar[str] = "progress"
    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message for the user. `line` is in the user's source (0: no line); `hint` says what to do.

    `stage_line` is a line of the edited text of `stage`; `column` is then in that line. `rule` is the rule of
    the findings that says the same, with its causes and changes.
    """

    kind: ClassVar[str] = "diagnostic"
    severity: Severity
    message: str
    stage: str = ""
    line: LineNumber = 0
    column: int = 0
    end_line: LineNumber = 0
    end_column: int = 0
    hint: str = ""
    stage_line: LineNumber = 0
    rule: str = ""


#: The last diagnostic of a job that was canceled.
CANCELED = Diagnostic("error", "Canceled.", hint="Start it again.")


@dataclass(frozen=True, slots=True)
class Log:
    """Output of a tool or of the user's code. `source` names it: "stdout", "ptxas", …"""

    kind: ClassVar[str] = "log"
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The last event of every job.

    `is_transient`: the job was stopped from outside (a limit, a crash, a cancellation), so that another
    attempt may have another result.
    """

    kind: ClassVar[str] = "done"
    status: Outcome
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
