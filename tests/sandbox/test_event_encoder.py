"""Events that are too large for the wall lose their largest part, and are accepted then."""

import msgspec
import pytest

from explorer.model import Diagnostic, Frame, Location, Log, Pass, Stage
from explorer.sandbox import event_encoder, protocol
from explorer.sandbox.event_encoder import EventEncoder
from explorer.sandbox.protocol import EventStream
from explorer.sandbox.settings import SandboxSettings

LIMIT = 10_000


@pytest.fixture
def accepted(monkeypatch):
    """Return a function that encodes events, and returns the events that the wall decodes."""
    limits = {"MOST_TEXT_BYTES": LIMIT, "MOST_WIDE_TEXT_BYTES": LIMIT // 4, "MOST_TEXT_LINES": 100}
    limits |= {"MOST_LOCATION_BYTES": LIMIT // 2}
    for name, value in limits.items():
        monkeypatch.setattr(event_encoder, name, value)
        monkeypatch.setattr(protocol, name, value)
    monkeypatch.setattr(event_encoder, "MOST_SNAPSHOTS_BYTES", 3 * LIMIT)
    monkeypatch.setattr(event_encoder, "MOST_EVENT_BYTES", LIMIT * 2)
    monkeypatch.setattr(event_encoder, "_LOG_CHARACTERS", LIMIT // 10)
    stream = EventStream(SandboxSettings(event_line_bytes=LIMIT * 4))
    encoder = EventEncoder()

    def accepted(*events):
        return stream.feed(b"".join(line for event in events for line in encoder.encode(event)))

    return accepted


def a_pass(index, text):
    return Pass(index, "ttgir", "cse", "CSE", (), 1.0, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x" * (LIMIT + 1), "MiB; at most"),
        ("\n" * 200, "it has 200 lines; at most 100 are kept"),
        ("\u20ac" * 1000, "MiB; at most"),
        ('"' * LIMIT, "as JSON; at most"),
    ],
    ids=["long", "lines", "wide", "escaped"],
)
def test_a_module_that_is_too_long_is_left_out_with_the_reason(accepted, text, reason):
    fine, cut, last = accepted(a_pass(0, "module"), a_pass(1, text), a_pass(2, None))
    assert (fine.text, fine.omitted) == ("module", "")
    assert cut.text is None
    assert reason in cut.omitted
    assert (last.text, last.omitted) == (None, "")


def test_all_modules_together_have_a_limit(accepted):
    passes = accepted(*(a_pass(index, "x" * (LIMIT - 500)) for index in range(5)))
    assert [each.text is None for each in passes] == [False] * 3 + [True] * 2
    assert "the modules after all passes" in passes[-1].omitted


def a_stage(text, locations=()):
    lines = tuple((0,) if locations else () for _ in range(text.count("\n") + 1))
    return Stage("llir", "LLVM IR", "text", 1.0, text, text + "\nraw", locations, lines)


def test_a_stage_that_is_too_long_is_cut_at_the_end_of_a_line(accepted):
    line = "y" * 299
    stage, note = accepted(a_stage("\n".join([line] * 50), (Location((Frame("", 1),)),)))
    assert set(stage.text.split("\n")) == {line}
    assert LIMIT // 3 < len(stage.text) <= LIMIT
    assert len(stage.line_locations) == stage.text.count("\n") + 1
    assert stage.raw is None
    assert isinstance(note, Diagnostic)
    assert (note.severity, note.stage) == ("note", "llir")
    assert "The text of LLVM IR is cut" in note.message


def test_a_stage_with_too_many_locations_is_linked_in_part(accepted):
    frames = tuple(Frame("", number, 1, "a_function") for number in range(1, 20))
    stage, note = accepted(
        Stage("ptx", "PTX", "text", 1.0, "z\n" * 90, None, (Location(frames),), ((0,) * 20,) * 90)
    )
    assert stage.text == "z\n" * 90
    assert 0 < len(stage.line_locations) < 90
    assert f"the first {len(stage.line_locations)} lines of PTX" in note.message


def test_logs_and_messages_are_cut(accepted):
    log, message = accepted(Log("compiler", "w" * LIMIT), Diagnostic("error", "m" * 30_000))
    assert log.text.endswith(f"[… {LIMIT * 9 // 10:,} characters left out]")
    assert message.message.endswith("[… 10,000 characters left out]")


def test_events_that_fit_are_unchanged(accepted):
    events = [a_stage("one\ntwo"), a_pass(0, "caf\u00e9"), Log("stdout", "text")]
    assert msgspec.to_builtins(accepted(*events)) == msgspec.to_builtins(events)
