"""Encodes the events of a job so that they fit into the limits of the wall.

A compiler's text may be longer than any limit. The text is then cut or left out, with a note, and costs no
other event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from explorer.model import Diagnostic, Event, Log, Pass, Stage, encode_event
from explorer.model.limits import (
    MOST_EVENT_BYTES,
    MOST_LOCATION_BYTES,
    MOST_SNAPSHOTS_BYTES,
    MOST_TEXT_BYTES,
    MOST_TEXT_LINES,
    MOST_WIDE_TEXT_BYTES,
)

#: The lengths to which messages and logs are shortened, in characters.
_MESSAGE_CHARACTERS = 20_000
_LOG_CHARACTERS = 1_000_000
#: A character beyond U+00FF.
_WIDE_CHARACTER = re.compile("[^\x00-\xff]")


class EventEncoder:
    """Encodes the events of one job, in order."""

    def __init__(self) -> None:
        self._snapshots_bytes = 0

    def encode(self, event: Event) -> Iterator[bytes]:
        """Yield the line of an event, and the line of a note if a part of it is left out."""
        match event:
            case Diagnostic() if len(event.message) > _MESSAGE_CHARACTERS:
                yield encode_event(replace(event, message=_cut(event.message, _MESSAGE_CHARACTERS)))
            case Log() if len(event.text) > _LOG_CHARACTERS:
                yield encode_event(replace(event, text=_cut(event.text, _LOG_CHARACTERS)))
            case Pass(text=str()):
                yield self._encode_pass(event)
            case Stage():
                yield from _encode_stage(event)
            case _:
                yield encode_event(event)

    def _encode_pass(self, event: Pass) -> bytes:
        """Encode a pass, without its text if that is too long."""
        assert event.text is not None
        reason = too_long(event.text)
        if not reason:
            line = encode_event(event)
            self._snapshots_bytes += len(line)
            if self._snapshots_bytes > MOST_SNAPSHOTS_BYTES:
                self._snapshots_bytes -= len(line)
                reason = f"the modules after all passes have more than {_mebibytes(MOST_SNAPSHOTS_BYTES)}"
            elif len(line) > MOST_EVENT_BYTES:
                most = _mebibytes(MOST_EVENT_BYTES)
                reason = f"it has {_mebibytes(len(line))} as JSON; at most {most} are kept"
        return encode_event(replace(event, text=None, omitted=reason)) if reason else line


def too_long(text: str) -> str:
    """Return why a text cannot be kept as a whole; "" if it can."""
    is_wide = _WIDE_CHARACTER.search(text) is not None
    limit_bytes = MOST_WIDE_TEXT_BYTES if is_wide else MOST_TEXT_BYTES
    written = json.dumps(text, ensure_ascii=False) if is_wide else text  # the wall searches the JSON
    size_bytes = len(written.encode("utf-8", "replace"))
    if size_bytes > limit_bytes:
        return f"it has {_mebibytes(size_bytes)}; at most {_mebibytes(limit_bytes)} are kept"
    if (lines := text.count("\n")) > MOST_TEXT_LINES:
        return f"it has {lines:,} lines; at most {MOST_TEXT_LINES:,} are kept"
    return ""


def _encode_stage(event: Stage) -> Iterator[bytes]:
    """Encode a stage, whose text and locations are cut where they are too long."""
    notes = []
    if event.raw is not None and too_long(event.raw):
        event = replace(event, raw=None)
    reason, text = too_long(event.text), event.text
    while too_long(text):
        text = text[: len(text) // 2].rpartition("\n")[0]
    if reason:
        event = replace(event, text=text, line_locations=event.line_locations[: text.count("\n") + 1])
        notes.append(f"The text of {event.title} is cut: {reason}.")
    line = encode_event(event)
    if len(line) > MOST_LOCATION_BYTES and event.line_locations:
        size_bytes = len(encode_event(replace(event, text="", raw=None)))
        if size_bytes > MOST_LOCATION_BYTES:
            count = len(event.line_locations) * MOST_LOCATION_BYTES // (2 * size_bytes)
            event = replace(event, line_locations=event.line_locations[:count])
            notes.append(f"Only the first {count:,} lines of {event.title} are linked to the source.")
            line = encode_event(event)
    if len(line) > MOST_EVENT_BYTES:
        line = encode_event(replace(event, raw=None))
    yield line
    for note in notes:
        yield encode_event(Diagnostic("note", note, event.name))


def _cut(text: str, most: int) -> str:
    return f"{text[:most]} [… {len(text) - most:,} characters left out]"


def _mebibytes(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 20):,.0f} MiB"
