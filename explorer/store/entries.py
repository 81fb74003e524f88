"""A result as it is kept: the events of a job, in order, with addresses in the place of texts.

An `Entry` is an event without its texts; a list of entries is the journal of a job; a `Result` is what
a journal adds up to. A running job and a stored result are the same thing at different ages.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from explorer.lexers import count_lines
from explorer.model import (
    Allocation,
    Answer,
    Binary,
    Diagnostic,
    Done,
    Event,
    Inspection,
    LineNumber,
    Location,
    Log,
    Measurement,
    Pass,
    Progress,
    Resources,
    Scalar,
    Specialized,
    Stage,
)
from explorer.store.blobs import Address, BlobBatch


class StageEntry(msgspec.Struct, frozen=True):
    """A stage. `raw` is None where the tool printed what is shown."""

    name: str
    title: str
    language: str
    milliseconds: float
    lines: int
    bytes: int
    text: Address
    raw: Address | None
    locations: Address


class PassEntry(msgspec.Struct, frozen=True):
    """A pass. `text` is None where it changed nothing."""

    index: int
    stage: str
    name: str
    title: str
    options: tuple[Scalar, ...]
    milliseconds: float
    text: Address | None
    failed: bool = False

    @property
    def changed(self) -> bool:
        """Whether it changed the module."""
        return self.text is not None


class BinaryEntry(msgspec.Struct, frozen=True):
    """The binary: a cubin or an hsaco."""

    name: str
    bytes: int
    data: Address


class MeasurementEntry(msgspec.Struct, frozen=True):
    """A measurement; `document` is JSON."""

    name: str
    document: Address


class StageLocations(msgspec.Struct, frozen=True):
    """Where the lines of a stage come from, as the compiler said it: the blob behind `locations`."""

    locations: tuple[Location, ...]
    line_locations: tuple[tuple[int, ...], ...]

    def source_lines(self) -> list[tuple[LineNumber, ...]]:
        """Of each line of the stage those of the user's source that it stems from, each once."""
        own = [location.source_line for location in self.locations]
        by_indices = {
            indices: tuple(dict.fromkeys(line for index in indices if (line := own[index])))
            for indices in set(self.line_locations)
        }
        return [by_indices[indices] for indices in self.line_locations]


Entry = (
    Inspection
    | Specialized
    | StageEntry
    | PassEntry
    | Resources
    | BinaryEntry
    | Allocation
    | Answer
    | MeasurementEntry
    | Progress
    | Diagnostic
    | Log
    | Done
)
ENTRY_TYPES: dict[str, type[Entry]] = {
    Inspection.kind: Inspection,
    Specialized.kind: Specialized,
    Stage.kind: StageEntry,
    Pass.kind: PassEntry,
    Resources.kind: Resources,
    Binary.kind: BinaryEntry,
    Allocation.kind: Allocation,
    Answer.kind: Answer,
    Measurement.kind: MeasurementEntry,
    Progress.kind: Progress,
    Diagnostic.kind: Diagnostic,
    Log.kind: Log,
    Done.kind: Done,
}
_KINDS = {entry_type: kind for kind, entry_type in ENTRY_TYPES.items()}


def kind_of(entry: Entry) -> str:
    """The kind of the event that the entry was made of."""
    return _KINDS[type(entry)]


def encode_journal(entries: Iterable[Entry]) -> bytes:
    """A journal as JSON: a list of `[kind, entry]`. How far the job was is over."""
    return msgspec.json.encode(
        [(kind_of(entry), entry) for entry in entries if not isinstance(entry, Progress)]
    )


def decode_journal(data: bytes) -> tuple[Entry, ...]:
    """The other way round."""
    pairs = msgspec.json.decode(data, type=list[tuple[str, msgspec.Raw]])
    return tuple(msgspec.json.decode(body, type=ENTRY_TYPES[kind]) for kind, body in pairs)


class Recorder:
    """Turns the events of one job into entries, and gives their texts to a batch."""

    def __init__(self, batch: BlobBatch) -> None:
        self._batch = batch

    def record(self, event: Event) -> Entry:
        """The entry of an event."""
        if isinstance(event, Stage):
            return self._record_stage(event)
        if isinstance(event, Pass):
            return self._record_pass(event)
        if isinstance(event, Binary):
            data = base64.b64decode(event.data)
            return BinaryEntry(event.name, len(data), self._batch.add(data))
        if isinstance(event, Measurement):
            return MeasurementEntry(event.name, self._batch.add(event.document))
        return event

    def _record_stage(self, stage: Stage) -> StageEntry:
        locations = StageLocations(stage.locations, stage.line_locations)
        return StageEntry(
            name=stage.name,
            title=stage.title,
            language=stage.language,
            milliseconds=stage.milliseconds,
            lines=count_lines(stage.text),
            bytes=len(stage.text.encode("utf-8", errors="replace")),
            text=self._batch.add(stage.text),
            raw=None if stage.raw is None else self._batch.add(stage.raw),
            locations=self._batch.add(msgspec.json.encode(locations)),
        )

    def _record_pass(self, compiler_pass: Pass) -> PassEntry:
        return PassEntry(
            index=compiler_pass.index,
            stage=compiler_pass.stage,
            name=compiler_pass.name,
            title=compiler_pass.title,
            options=compiler_pass.options,
            milliseconds=compiler_pass.milliseconds,
            text=None if compiler_pass.text is None else self._batch.add(compiler_pass.text),
            failed=compiler_pass.failed,
        )


@dataclass
class Result:
    """What a journal adds up to."""

    inspection: Inspection | None = None
    specialized: Specialized | None = None
    stages: dict[str, StageEntry] = field(default_factory=dict)
    passes: dict[int, PassEntry] = field(default_factory=dict)
    resources: Resources | None = None
    binary: BinaryEntry | None = None
    allocations: list[Allocation] = field(default_factory=list)
    answer: Answer | None = None
    measurements: dict[str, MeasurementEntry] = field(default_factory=dict)
    progress: Progress | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    logs: dict[str, list[str]] = field(default_factory=dict)
    done: Done | None = None

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Result:
        """Add up a journal. Of two stages of one name, or passes of one index, the later one counts."""
        result = cls()
        for entry in entries:
            match entry:
                case Inspection():
                    result.inspection = entry
                case Specialized():
                    result.specialized = entry
                case StageEntry():
                    result.stages[entry.name] = entry
                case PassEntry():
                    result.passes[entry.index] = entry
                case Resources():
                    result.resources = entry
                case BinaryEntry():
                    result.binary = entry
                case Allocation():
                    result.allocations.append(entry)
                case Answer():
                    result.answer = entry
                case MeasurementEntry():
                    result.measurements[entry.name] = entry
                case Progress():
                    result.progress = entry
                case Diagnostic():
                    result.diagnostics.append(entry)
                case Log():
                    result.logs.setdefault(entry.source, []).append(entry.text)
                case Done():
                    result.done = entry
        return result
