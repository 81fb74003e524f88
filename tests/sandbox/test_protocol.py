"""Test which events the web side accepts from the jail."""

import dataclasses
import json

import msgspec
import pytest

from explorer.model import (
    Allocation,
    Binary,
    Buffer,
    Diagnostic,
    Done,
    Event,
    Frame,
    Inspection,
    Location,
    Log,
    Measurement,
    Pass,
    Resources,
    Stage,
    encode_event,
    to_plain,
)
from explorer.sandbox import SandboxSettings
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.protocol import EventStream, decode_event

STAGE = Stage(
    "ttir", "TTIR", "ttir", 1.5, "a\nb", "raw", (Location((Frame("", 3), Frame("lib.py", 9))),), ((0,), ())
)


def as_line(event, **changes):
    return json.dumps({"event": event.kind, **to_plain(event), **changes}).encode()


@pytest.mark.parametrize(
    "event",
    [
        STAGE,
        Pass(0, "ttir", "inline", "Inline", ("a", 1, True, None), 0.5, "text"),
        Resources(registers=3),
        Diagnostic("error", "no", "ttir", 3),
        Log("stdout", "ünï\u2028code \x00"),
        Inspection((), ()),
        Done("complete", 3.5),
    ],
)
def test_what_the_pipeline_writes_comes_back_equal(event):
    assert decode_event(encode_event(event).rstrip(b"\n")) == event


def test_lone_surrogates_are_cleaned_by_the_writer():
    assert decode_event(encode_event(Log("stdout", "a\ud800b")).strip()) == Log("stdout", "a?b")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"event":"other"}',
        b'{"event":1}',
        b'{"event":"log","source":"a","text":"\\ud800"}',
        b'{"event":"log","source":"a","text":"\xff"}',
        b'{"event":"log","source":"a"}',
        b'{"event":"log","source":"a","text":1}',
        b'{"event":"done","status":"maybe","milliseconds":1}',
        b'{"event":"done","status":"complete","milliseconds":NaN}',
        b'{"event":"done","status":"complete","milliseconds":1e999}',
        b'{"event":"done","status":"complete","milliseconds":-1}',
        b'{"event":"done","status":"complete","milliseconds":true}',
        b'{"event":"log","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        as_line(STAGE, name="../etc"),
        as_line(STAGE, name=""),
        as_line(STAGE, line_locations=[[1]]),
        as_line(STAGE, line_locations=[[-1]]),
        as_line(STAGE, line_locations=[[]] * 3),
        as_line(STAGE, locations=[{"frames": []}], line_locations=[]),
        as_line(STAGE, milliseconds="1"),
        as_line(Diagnostic("error", "x"), line=-1),
        as_line(Diagnostic("error", "x"), severity="fatal"),
    ],
)
def test_anything_else_is_refused(line):
    with pytest.raises(ProtocolError):
        decode_event(line)


def test_a_stream_is_read_at_any_cut():
    events: list[Event] = [STAGE, Log("stdout", "x"), Done("complete", 1)]
    data = b"".join(encode_event(event) for event in events)
    for size in (1, 7, 1000):
        stream = EventStream(SandboxSettings())
        found = [
            event for start in range(0, len(data), size) for event in stream.feed(data[start : start + size])
        ]
        assert found == events


def test_nothing_comes_after_the_last_event():
    data = encode_event(Done("complete", 1)) + encode_event(Log("stdout", "more"))
    assert EventStream(SandboxSettings()).feed(data) == [Done("complete", 1)]


def test_a_line_that_was_cut_short_does_not_count():
    data = b'{"event":"log","so\x18\n' + encode_event(Done("failed", 1))
    assert EventStream(SandboxSettings()).feed(data) == [Done("failed", 1)]


@pytest.mark.parametrize(
    ("limit", "data"),
    [
        ({"event_line_bytes": 100}, b"x" * 101),
        ({"event_line_bytes": 100}, encode_event(Log("stdout", "x" * 100))),
        ({"event_total_bytes": 100}, encode_event(Log("a", "x")) * 10),
        ({"event_count": 2}, encode_event(Log("a", "x")) * 3),
        ({}, encode_event(STAGE) * 2),
        ({}, encode_event(Binary("cubin", "AAAA")) * 2),
        ({}, encode_event(Pass(1, "ttir", "a", "A", (), 1)) * 2),
    ],
)
def test_limits_of_a_stream(limit, data):
    stream = EventStream(dataclasses.replace(SandboxSettings(), **limit))
    with pytest.raises(ProtocolError):
        stream.feed(data)


def test_as_many_events_as_the_limit_are_accepted():
    events: list[Event] = [Log("a", "x"), Done("complete", 1)]
    stream = EventStream(dataclasses.replace(SandboxSettings(), event_count=2))
    assert stream.feed(b"".join(encode_event(event) for event in events)) == events


def test_what_was_left_out_of_a_line_is_there_afterwards():
    event = decode_event(b'{"event":"resources","registers":3}')
    assert msgspec.to_builtins(event) == msgspec.to_builtins(Resources(registers=3))


@pytest.mark.parametrize(
    "line",
    [
        as_line(Pass(0, "ttir", "a", "A", (), 1), index=10**18),
        as_line(Pass(0, "ttir", "a", "A", (), 1), milliseconds=-1),
        as_line(Binary("cubin", "AAAA"), milliseconds=-1),
        as_line(Diagnostic("error", "no"), line=10**30),
        as_line(Resources(), registers=-1),
        as_line(Resources(), threads=10**40),
        as_line(Allocation(0, 0, (Buffer(0, "explicit", 1, 0, 0, 10**9, "a"),), 1)),
        as_line(Allocation(0, 0, (Buffer(0, "explicit", 1, 0, -1, 1, "a"),), 1)),
        as_line(Allocation(0, 0, (Buffer(0, "explicit", 10**30, 0, 0, 1, "a"),), 1)),
        as_line(Allocation(0, 0, (Buffer(0, "explicit", 1, 0, 0, 1, "a"),) * 10_001, 1)),
    ],
)
def test_numbers_that_nothing_has_are_refused(line):
    with pytest.raises(ProtocolError):
        decode_event(line)


def test_what_is_kept_in_memory_is_little():
    stream = EventStream(dataclasses.replace(SandboxSettings(), event_journal_bytes=1000))
    stream.feed(encode_event(dataclasses.replace(STAGE, text="a\n" + "x" * 2000)))
    stream.feed(encode_event(Log("stdout", "x" * 600)))
    with pytest.raises(ProtocolError, match="1,000 bytes"):
        stream.feed(encode_event(Log("stdout", "x" * 600)))


def test_names_are_no_texts():
    """Resources are part of the index of a result, which is kept in memory."""
    stream = EventStream(dataclasses.replace(SandboxSettings(), event_journal_bytes=1000))
    with pytest.raises(ProtocolError, match="1,000 bytes"):
        stream.feed(encode_event(Pass(0, "ttir", "a", "A" * 1001, (), 1, "text")))
    with pytest.raises(ProtocolError, match="1,000 bytes"):
        stream.feed(encode_event(Pass(1, "ttir", "a", "A", ("x" * 1001,), 1, "text")))
    with pytest.raises(ProtocolError, match="1,000 bytes"):
        stream.feed(encode_event(dataclasses.replace(STAGE, title="A" * 1001)))


ROOFS = Measurement("roofs", '{"roofs":[]}')


def test_a_measurement_is_checked_against_its_type():
    assert decode_event(encode_event(ROOFS)) == ROOFS
    for name, document, message in (
        ("speed", "{}", "unknown measurement 'speed'"),
        ("roofs", '{"roofs":1}', "the measurement roofs: "),
        ("roofs", '{"roofs":[]' + " " * 1_000_000 + "}", "longer than 1,000,000 characters"),
        ("files", '{"files":[]' + " " * 60_000_000 + "}", "longer than 60,000,000 characters"),
    ):
        with pytest.raises(ProtocolError, match=message):
            decode_event(encode_event(Measurement(name, document)))
