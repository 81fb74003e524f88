"""The stored form of a result: the events of a job, in order, with addresses in place of texts.

An `Entry` is an event without its texts. The entries of a job are its journal. A `Result` is the state that a
journal describes; a running job and a stored result differ only in the length of their journals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgspec

from explorer.model import (
    Allocation,
    Answer,
    Binary,
    Diagnostic,
    Done,
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
from explorer.model.source_lines import SourceLines
from explorer.store.address import Address


class StageEntry(msgspec.Struct, frozen=True):
    """A stage. `raw` is None if the shown text is what the tool printed."""

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
    """A pass. `text` is None if the pass changed nothing, or if the module after it is `omitted`."""

    index: int
    stage: str
    name: str
    title: str
    options: tuple[Scalar, ...]
    milliseconds: float
    text: Address | None
    failed: bool = False
    omitted: str = ""

    @property
    def changed(self) -> bool:
        """Whether the pass is known to have changed the module."""
        return self.text is not None


class BinaryEntry(msgspec.Struct, frozen=True):
    """The binary: a cubin or an hsaco."""

    name: str
    bytes: int
    data: Address
    milliseconds: float | None = None


class MeasurementEntry(msgspec.Struct, frozen=True):
    """A measurement; `document` is JSON."""

    name: str
    document: Address


class StageLocations(msgspec.Struct, frozen=True):
    """The source locations of the lines of a stage, as the compiler gives them: the blob `locations`."""

    locations: tuple[Location, ...]
    line_locations: tuple[tuple[int, ...], ...]

    def source_lines(self, numbers: SourceLines) -> list[tuple[LineNumber, ...]]:
        """Return for each line of the stage the lines of the user's source that it comes from."""
        own = [numbers.number_of(location) for location in self.locations]
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
    """Return the kind of the event that an entry was made from."""
    return _KINDS[type(entry)]


def encode_journal(entries: Iterable[Entry]) -> bytes:
    """Encode a journal as JSON: a list of `[kind, entry]`. Progress is not stored."""
    return msgspec.json.encode(
        [(kind_of(entry), entry) for entry in entries if not isinstance(entry, Progress)]
    )


def encode_entry(entry: Entry) -> bytes:
    """Encode one entry as JSON, as in a journal."""
    return msgspec.json.encode((kind_of(entry), entry))


def decode_journal(data: bytes) -> tuple[Entry, ...]:
    """Decode a journal whose bytes match its digest.

    Raises:
        msgspec.DecodeError, UnicodeDecodeError, KeyError: the bytes are no journal.
    """
    pairs = msgspec.json.decode(data, type=list[tuple[str, msgspec.Raw]])
    return tuple(msgspec.json.decode(body, type=ENTRY_TYPES[kind]) for kind, body in pairs)


def blobs_of(entries: Iterable[Entry]) -> Iterator[Address]:
    """Yield the addresses of the blobs that a journal refers to."""
    for entry in entries:
        match entry:
            case StageEntry():
                yield from (entry.text, entry.locations)
                if entry.raw is not None:
                    yield entry.raw
            case PassEntry(text=str(text)):
                yield text
            case BinaryEntry():
                yield entry.data
            case MeasurementEntry():
                yield entry.document


@dataclass
class Result:
    """The state that a journal describes."""

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

    @property
    def error_messages(self) -> list[str]:
        """The messages of the errors, in their order."""
        return [each.message for each in self.diagnostics if each.severity == "error"]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Result:
        """Build a result from a journal. A later stage or pass replaces an earlier one."""
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
