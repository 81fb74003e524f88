"""The decoder of events: one line from the jail in, one event out. Nothing else crosses the wall.

An attacker may have written any line. Each line is decoded strictly into a dataclass of `explorer.model`.
Lists are checked against each other; lines, bytes and names are counted.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from dataclasses import fields

import msgspec

from explorer.model import (
    EVENT_TYPES,
    Allocation,
    Binary,
    Diagnostic,
    Done,
    Event,
    Inspection,
    Kernel,
    Measurement,
    Pass,
    Progress,
    Resources,
    Specialized,
    Stage,
)
from explorer.model.languages import LANGUAGES
from explorer.model.limits import (
    MOST_FIELD_BYTES,
    MOST_GRAPH_NODE_CHARACTERS,
    MOST_GRAPH_NODES,
    MOST_LOCATION_BYTES,
    MOST_PASSES,
    MOST_STAGES,
    MOST_TEXT_BYTES,
    MOST_TEXT_LINES,
    MOST_WIDE_TEXT_BYTES,
)
from explorer.model.measurements import MEASUREMENTS
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.settings import SandboxSettings
from explorer.sandbox.stop_reason import StopReason, read_stop_line

#: Marks a line as incomplete, because its writer died. The line is ignored.
CANCEL_LINE = b"\x18"

#: A character beyond U+00FF in JSON, literal or as an escape.
_WIDE_CHARACTER = re.compile(rb"[\xc4-\xff]|\\u(?!00)")

#: Longer lines are not copied.
_LONG_LINE_BYTES = 1 << 20

#: Names are used in URLs and file names.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")

MAX_LOCATION_FRAMES = 1_000
#: The largest line number, column number or index of a pass.
MAX_NUMBER = 10_000_000
MAX_OPTIONS = 1_000
MAX_ASSUMED = 100
MAX_OUTPUT_FILES = 1_000
MAX_BUFFERS = 10_000
#: The largest value of a resource: the largest integer that JavaScript represents exactly.
MAX_RESOURCE = 2**53 - 1
MAX_PROGRESS_CHARACTERS = 500
#: How often a measurement may arrive: the environment comes before all measures and again with the times.
MOST_REPETITIONS = 2
MAX_DEPTH_ERROR = "nested too deeply"


class _Header(msgspec.Struct):
    """The kind of an event, and its undecoded texts."""

    event: str
    text: msgspec.Raw = msgspec.Raw()
    raw: msgspec.Raw = msgspec.Raw()
    data: msgspec.Raw = msgspec.Raw()
    document: msgspec.Raw = msgspec.Raw()

    @property
    def texts(self) -> list[memoryview]:
        return [memoryview(each) for each in (self.text, self.raw, self.data, self.document)]


_header_decoder = msgspec.json.Decoder(_Header)
_documents = {name: msgspec.json.Decoder(kind.document) for name, kind in MEASUREMENTS.items()}
_decoders = {kind: msgspec.json.Decoder(event_type) for kind, event_type in EVENT_TYPES.items()}


def decode_event(line: bytes | bytearray | memoryview) -> Event:
    """Decode one line.

    Raises:
        ProtocolError: the line is not JSON or not a known event, or a field has a wrong type or value.
    """
    try:
        header = _header_decoder.decode(line)
        decoder = _decoders.get(header.event)
        if decoder is None:
            raise ProtocolError(f"unknown event {header.event[:50]!r}")
        # Checked before the objects are made: no other thread runs while they are made.
        limit_bytes = MOST_LOCATION_BYTES if header.event == Stage.kind else MOST_FIELD_BYTES
        if len(line) - sum(text.nbytes for text in header.texts) > limit_bytes:
            raise ProtocolError(
                f"{header.event} has more than {limit_bytes:,} bytes of locations and other fields"
            )
        if any(text.nbytes > MOST_WIDE_TEXT_BYTES and _WIDE_CHARACTER.search(text) for text in header.texts):
            raise ProtocolError(
                f"{header.event} has characters beyond U+00FF in more than {MOST_WIDE_TEXT_BYTES:,} bytes"
            )
        event: Event = decoder.decode(line)
    except RecursionError:
        raise ProtocolError(MAX_DEPTH_ERROR) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtocolError(str(error)[:300]) from None
    _check(event)
    return event


class EventStream:
    """Checks the events of one job as a whole: their number, size and order, and repetitions."""

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
        #: Why the warden has stopped the job, if its stop line has arrived.
        self.stop_reason: StopReason | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Take bytes as they arrive. Return the events that are now complete, none after Done.

        Raises:
            ProtocolError: a line is not valid. The events before it in `data` are lost.
        """
        self._total_bytes += len(data)
        if self._total_bytes > self._settings.event_total_bytes:
            raise ProtocolError(
                f"the result is larger than the limit of {self._settings.event_total_bytes:,} bytes"
            )
        self._buffer += data
        events: list[Event] = []
        start = 0
        while (end := self._buffer.find(b"\n", max(start, self._searched))) >= 0:
            line, start = self._take_line(start, end)
            if line.endswith(CANCEL_LINE):
                self.stop_reason = read_stop_line(bytes(line.removesuffix(CANCEL_LINE))) or self.stop_reason
                continue
            if len(line) > self._settings.event_line_bytes:
                raise self._too_long(self._settings.event_line_bytes)
            event = decode_event(line)
            self._register(event, len(line))
            events.append(event)
            del line
            if isinstance(event, Done):
                break
        del self._buffer[:start]
        self._searched = len(self._buffer)
        if len(self._buffer) > self._settings.event_line_bytes:
            raise self._too_long(self._settings.event_line_bytes)
        return events

    def _take_line(self, start: int, end: int) -> tuple[bytes | bytearray, int]:
        """Return a line of the buffer, and where the next line begins. A long line leaves the buffer."""
        if end - start < _LONG_LINE_BYTES:
            return bytes(memoryview(self._buffer)[start:end]), end + 1
        line, self._buffer = self._buffer, self._buffer[end + 1 :]
        del line[end:], line[:start]
        self._searched = 0
        return line, 0

    def _too_long(self, limit_bytes: int) -> ProtocolError:
        return ProtocolError(f"an event is larger than the limit of {limit_bytes:,} bytes")

    def _register(self, event: Event, size_bytes: int) -> None:
        self._count += 1
        # Texts and binaries are stored on disk. The rest of an event stays in memory.
        self._journal_bytes += _bytes_in_memory(event, size_bytes)
        if self._journal_bytes > self._settings.event_journal_bytes:
            limit_bytes = self._settings.event_journal_bytes
            raise ProtocolError(f"its messages and logs are larger than the limit of {limit_bytes:,} bytes")
        if self._count > self._settings.event_count:
            raise ProtocolError(f"more than {self._settings.event_count:,} events")
        if isinstance(event, Stage):
            if event.name in self._stages:
                raise ProtocolError(f"stage {event.name} came twice")
            if len(self._stages) == MOST_STAGES:
                raise ProtocolError(f"more than {MOST_STAGES} stages")
            self._stages.add(event.name)
        elif isinstance(event, Pass):
            if event.index in self._passes:
                raise ProtocolError(f"pass {event.index} came twice")
            if len(self._passes) == MOST_PASSES:
                raise ProtocolError(f"more than {MOST_PASSES:,} passes")
            self._passes.add(event.index)
        elif isinstance(event, Measurement):
            self._measurements[event.name] += 1
            if self._measurements[event.name] > MOST_REPETITIONS:
                raise ProtocolError(f"the measurement {event.name} came more than {MOST_REPETITIONS} times")
        elif isinstance(event, Binary):
            if self._has_binary:
                raise ProtocolError("a second binary came")
            self._has_binary = True


def _bytes_in_memory(event: Event, size_bytes: int) -> int:
    """Return the size of an event without texts and binaries. `size_bytes` is the length of its line."""
    if isinstance(event, Stage):
        return len(event.title)
    if isinstance(event, Pass):
        options = sum(len(option) for option in event.options if isinstance(option, str))
        return len(event.name) + len(event.title) + len(event.omitted) + options
    return 0 if isinstance(event, Binary | Measurement) else size_bytes


def _check(event: Event) -> None:
    """Check the constraints that the types cannot express."""
    if isinstance(event, Stage):
        _require(_NAME.fullmatch(event.name), "a stage's name")
        _require(event.language in LANGUAGES, "a stage's language")
        _check_text(event.text, "a stage's text")
        _check_text(event.raw or "", "a stage's text")
        _require(event.milliseconds >= 0, "a stage's time")
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
        _check_text(event.text or "", "the module after a pass")
        _require(0 <= event.index <= MAX_NUMBER, "a pass's index")
        _require(len(event.options) <= MAX_OPTIONS, "a pass's options")
        _require(_NAME.fullmatch(event.stage), "a pass's stage")
        _require(event.milliseconds >= 0, "a pass's time")
    elif isinstance(event, Diagnostic):
        positions = (event.line, event.column, event.end_line, event.end_column, event.stage_line)
        _require(min(positions) >= 0 and max(positions) <= MAX_NUMBER, "a diagnostic's position")
    elif isinstance(event, Resources):
        numbers = [getattr(event, field.name) or 0 for field in fields(event)]
        _require(min(numbers) >= 0 and max(numbers) <= MAX_RESOURCE, "a resource")
    elif isinstance(event, Binary):
        _require(_NAME.fullmatch(event.name), "a binary's name")
        _require((event.milliseconds or 0) >= 0, "a binary's time")
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
        _require(len(event.assumed) <= MAX_ASSUMED, "the number of assumed numbers")
        lines = [kernel.line for kernel in event.kernels] + [launch.line for launch in event.launches]
        lines += [number.line for number in event.assumed]
        _require(min(lines, default=0) >= 0 and max(lines, default=0) <= MAX_NUMBER, "a kernel's line")
        for kernel in event.kernels:
            _check_graph_nodes(kernel)
        if (code := event.output_code) is not None:
            _require(len(code.files) <= MAX_OUTPUT_FILES, "the number of files of output code")
            _require(len(code.kernels) <= 10_000, "the number of kernels of output code")
    elif isinstance(event, Measurement):
        _check_measurement(event)
    elif isinstance(event, Progress):
        _require(0 <= event.done <= event.total <= MAX_NUMBER, "the progress")
        _require(len(event.text) <= MAX_PROGRESS_CHARACTERS, "the progress")
    elif isinstance(event, Specialized):
        _require(0 <= event.line <= MAX_NUMBER, "a kernel's line")
    elif isinstance(event, Done):
        _require(event.milliseconds >= 0, "the time")


def _check_text(text: str, what: str) -> None:
    size_bytes = len(text) if text.isascii() else len(text.encode("utf-8", errors="replace"))
    if size_bytes > MOST_TEXT_BYTES:
        raise ProtocolError(f"{what} is longer than {MOST_TEXT_BYTES:,} bytes")
    if text.count("\n") > MOST_TEXT_LINES:
        raise ProtocolError(f"{what} has more than {MOST_TEXT_LINES:,} lines")


def _check_graph_nodes(kernel: Kernel) -> None:
    _require(len(kernel.graph_nodes) <= MOST_GRAPH_NODES, "the number of graph nodes")
    for node in kernel.graph_nodes:
        _require(0 <= node.line <= MAX_NUMBER, "a graph node's line")
        texts = (node.name, node.operation, node.original, node.output)
        _require(max(map(len, texts)) <= MOST_GRAPH_NODE_CHARACTERS, "a graph node's text")


def _check_measurement(event: Measurement) -> None:
    decoder = _documents.get(event.name)
    if decoder is None:
        raise ProtocolError(f"unknown measurement {event.name[:50]!r}")
    limit = MEASUREMENTS[event.name].most_characters
    if len(event.document) > limit:
        raise ProtocolError(f"the measurement {event.name} is longer than {limit:,} characters")
    try:
        decoder.decode(event.document)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError(f"the measurement {event.name}: {str(error)[:300]}") from None


def _require(condition: object, what: str) -> None:
    if not condition:
        raise ProtocolError(f"{what} is not valid")
