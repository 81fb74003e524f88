"""One line from the jail in, one event out: the only way across the wall.

Whatever arrives may have been written by an attacker. A line is decoded strictly into the dataclasses
of `explorer.model`, lists are checked against each other, and lines, bytes and names are counted.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from dataclasses import fields, replace

import msgspec

from explorer.measurements import MEASUREMENTS
from explorer.model import (
    EVENT_TYPES,
    Allocation,
    Binary,
    Diagnostic,
    Done,
    Event,
    Inspection,
    Measurement,
    Pass,
    Progress,
    Resources,
    Specialized,
    Stage,
)
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.settings import SandboxSettings

#: Ends a line that was cut short by the death of its writer; the line does not count.
CANCEL_LINE = b"\x18"

#: Names become parts of URLs and file names.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")

MAX_LIST_LENGTH = 1_000_000
MAX_LOCATION_FRAMES = 1_000
#: Lines, columns, indices of passes: what is larger is no such thing.
MAX_NUMBER = 10_000_000
MAX_OPTIONS = 1_000
MAX_BUFFERS = 10_000
#: What a resource may be: whatever a browser still counts exactly.
MAX_RESOURCE = 2**53 - 1
MAX_PROGRESS_CHARACTERS = 500
#: How long the document of a measurement may be, in characters: lists of runs hold some of many at a time.
MAX_DOCUMENT_CHARACTERS = 1_000_000
MAX_LONG_DOCUMENT_CHARACTERS = {
    "samples": 16_000_000,
    "counts": 16_000_000,
    "timeline": 16_000_000,
    "files": 60_000_000,
}
#: What a GPU was like is told before anything is measured, and with the times once more.
MOST_TIMES_TOLD = 2
MAX_DEPTH_ERROR = "nested too deeply"


class _Header(msgspec.Struct):
    event: str


_header_decoder = msgspec.json.Decoder(_Header)
_documents = {name: msgspec.json.Decoder(document) for name, document in MEASUREMENTS.items()}
_decoders = {kind: msgspec.json.Decoder(event_type) for kind, event_type in EVENT_TYPES.items()}


def decode_event(line: bytes | bytearray | memoryview) -> Event:
    """Decode one line.

    Raises:
        ProtocolError: it is no JSON, no known event, or a field has the wrong type or makes no sense.
    """
    try:
        kind = _header_decoder.decode(line).event
        decoder = _decoders.get(kind)
        if decoder is None:
            raise ProtocolError(f"unknown event {kind[:50]!r}")
        # msgspec leaves out of an object what was left out of the line; a copy has all fields.
        event: Event = replace(decoder.decode(line))
    except RecursionError:
        raise ProtocolError(MAX_DEPTH_ERROR) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(str(error)[:300]) from None
    _check(event)
    return event


class EventStream:
    """Checks the events of one job as a whole: how many, how large, none after the last, none twice."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._buffer = bytearray()
        self._searched = 0
        self._total_bytes = 0
        self._journal_bytes = 0
        self._count = 0
        self._stages: set[str] = set()
        self._passes: set[int] = set()
        self._measurements: Counter[str] = Counter()
        self._has_binary = False

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes as they arrive; return the events that are now whole, none beyond Done.

        Raises:
            ProtocolError: with the events before the offending line lost to the caller; feed little.
        """
        self._total_bytes += len(data)
        if self._total_bytes > self._settings.event_total_bytes:
            raise ProtocolError(f"the result is larger than {self._settings.event_total_bytes:,} bytes")
        self._buffer += data
        events: list[Event] = []
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._searched))) >= 0:
            line = bytes(memoryview(self._buffer)[start:end])
            start = end + 1
            if line.endswith(CANCEL_LINE):
                continue
            if len(line) > self._settings.event_line_bytes:
                raise self._too_long(self._settings.event_line_bytes)
            event = decode_event(line)
            self._register(event, len(line))
            events.append(event)
            if isinstance(event, Done):
                break
        del self._buffer[:start]
        self._searched = len(self._buffer)
        if len(self._buffer) > self._settings.event_line_bytes:
            raise self._too_long(self._settings.event_line_bytes)
        return events

    def _too_long(self, limit_bytes: int) -> ProtocolError:
        return ProtocolError(f"an event is larger than {limit_bytes:,} bytes")

    def _register(self, event: Event, size_bytes: int) -> None:
        self._count += 1
        # Only texts and binaries go to the disk: the rest is kept in memory.
        self._journal_bytes += _bytes_in_memory(event, size_bytes)
        if self._journal_bytes > self._settings.event_journal_bytes:
            limit_bytes = self._settings.event_journal_bytes
            raise ProtocolError(f"its messages and logs are larger than {limit_bytes:,} bytes")
        if self._count > self._settings.event_count:
            raise ProtocolError(f"more than {self._settings.event_count:,} events")
        if isinstance(event, Stage):
            if event.name in self._stages:
                raise ProtocolError(f"stage {event.name} came twice")
            self._stages.add(event.name)
        elif isinstance(event, Pass):
            if event.index in self._passes:
                raise ProtocolError(f"pass {event.index} came twice")
            self._passes.add(event.index)
        elif isinstance(event, Measurement):
            self._measurements[event.name] += 1
            if self._measurements[event.name] > MOST_TIMES_TOLD:
                raise ProtocolError(f"the measurement {event.name} came more than {MOST_TIMES_TOLD} times")
        elif isinstance(event, Binary):
            if self._has_binary:
                raise ProtocolError("a second binary came")
            self._has_binary = True


def _bytes_in_memory(event: Event, size_bytes: int) -> int:
    """How much of an event is no text and no binary; `size_bytes` is the length of its line."""
    if isinstance(event, Stage):
        return len(event.title)
    if isinstance(event, Pass):
        options = sum(len(option) for option in event.options if isinstance(option, str))
        return len(event.name) + len(event.title) + options
    return 0 if isinstance(event, Binary | Measurement) else size_bytes


def _check(event: Event) -> None:
    """Check what the types cannot say."""
    if isinstance(event, Stage):
        _require(_NAME.fullmatch(event.name), "a stage's name")
        _require(_NAME.fullmatch(event.language), "a stage's language")
        _require(event.milliseconds >= 0, "a stage's time")
        _require(len(event.locations) <= MAX_LIST_LENGTH, "the number of locations")
        _require(
            all(0 < len(location.frames) <= MAX_LOCATION_FRAMES for location in event.locations),
            "a location's frames",
        )
        _require(
            all(
                0 <= frame.line <= MAX_NUMBER and 0 <= frame.column <= MAX_NUMBER
                for location in event.locations
                for frame in location.frames
            ),
            "a location's line",
        )
        _require(len(event.line_locations) <= event.text.count("\n") + 1, "the number of line locations")
        known = range(len(event.locations))
        _require(
            all(index in known for indices in event.line_locations for index in indices),
            "a line's location",
        )
    elif isinstance(event, Pass):
        _require(0 <= event.index <= MAX_NUMBER, "a pass's index")
        _require(len(event.options) <= MAX_OPTIONS, "a pass's options")
        _require(_NAME.fullmatch(event.stage), "a pass's stage")
        _require(event.milliseconds >= 0, "a pass's time")
    elif isinstance(event, Diagnostic):
        positions = (event.line, event.column, event.end_line, event.end_column)
        _require(min(positions) >= 0 and max(positions) <= MAX_NUMBER, "a diagnostic's position")
    elif isinstance(event, Resources):
        numbers = [getattr(event, field.name) or 0 for field in fields(event)]
        _require(min(numbers) >= 0 and max(numbers) <= MAX_RESOURCE, "a resource")
    elif isinstance(event, Binary):
        _require(_NAME.fullmatch(event.name), "a binary's name")
        try:
            base64.b64decode(event.data, validate=True)
        except (ValueError, binascii.Error):
            raise ProtocolError("a binary is not in base 64") from None
    elif isinstance(event, Allocation):
        _require(len(event.buffers) <= MAX_BUFFERS, "the number of buffers")
        sizes, counts = [event.shared_bytes], [event.pass_index, event.function]
        for buffer in event.buffers:
            sizes += [buffer.size_bytes, buffer.offset_bytes]
            counts += [buffer.index, buffer.start, buffer.end or 0]
        _require(min(sizes) >= 0 and max(sizes) <= MAX_RESOURCE, "an allocation's size")
        _require(min(counts) >= 0 and max(counts) <= MAX_NUMBER, "an allocation's number")
        _require(min(event.source_lines, default=0) >= 0, "an allocation's line")
        _require(max(event.source_lines, default=0) <= MAX_NUMBER, "an allocation's line")
    elif isinstance(event, Inspection):
        _require(len(event.kernels) <= 10_000 and len(event.launches) <= 10_000, "the number of kernels")
        lines = [kernel.line for kernel in event.kernels] + [launch.line for launch in event.launches]
        _require(min(lines, default=0) >= 0 and max(lines, default=0) <= MAX_NUMBER, "a kernel's line")
    elif isinstance(event, Measurement):
        _check_measurement(event)
    elif isinstance(event, Progress):
        _require(0 <= event.done <= event.total <= MAX_NUMBER, "the progress")
        _require(len(event.text) <= MAX_PROGRESS_CHARACTERS, "the progress")
    elif isinstance(event, Specialized):
        _require(0 <= event.line <= MAX_NUMBER, "a kernel's line")
    elif isinstance(event, Done):
        _require(event.milliseconds >= 0, "the time")


def _check_measurement(event: Measurement) -> None:
    decoder = _documents.get(event.name)
    if decoder is None:
        raise ProtocolError(f"unknown measurement {event.name[:50]!r}")
    limit = MAX_LONG_DOCUMENT_CHARACTERS.get(event.name, MAX_DOCUMENT_CHARACTERS)
    if len(event.document) > limit:
        raise ProtocolError(f"the measurement {event.name} is longer than {limit:,} characters")
    try:
        decoder.decode(event.document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError(f"the measurement {event.name}: {str(error)[:300]}") from None


def _require(condition: object, what: str) -> None:
    if not condition:
        raise ProtocolError(f"{what} is not valid")
