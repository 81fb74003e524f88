"""Give damaged and long input to every parser of untrusted input (`targets`)."""

import gc
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .targets import CORPUS, TARGETS, find_target

pytestmark = pytest.mark.slow

NAMES = [target.name for target in TARGETS]
#: Of one input. The slowest parsers take 20 µs per byte of an ordinary text.
SECONDS = 1.0
SECONDS_PER_BYTE = 100e-6
#: A text twice as long may take this many times as long: not four times.
GROWTH = 3.0
LONG_BYTES = 20_000
LEAST_SECONDS = 0.1
CORPUS_BYTES = 200_000

#: The inserted texts: delimiters, numbers at the limits of types, and characters that are written as several.
TOKENS = [
    *(
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b"<",
        b">",
        b'"',
        b"'",
        b"\\",
        b"#",
        b"%",
        b":",
        b",",
        b"=",
        b"\n",
        b"\0",
    ),
    *(b"0", b"-1", b"18446744073709551616", b"1e999", b"NaN", b"null", b"loc(", b"->", b"/*", b"*/", b"//"),
    *("ä€😀\u2028".encode(), b"\xff\xfe", b"\xed\xa0\x80", b"\r", b"\x1b[0m", b" " * 50),
]


@st.composite
def damaged(draw, seeds):
    """Draw a seed with some lines removed, repeated or exchanged, and tokens inserted."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        kind = draw(st.integers(0, 4))
        if kind < 3:
            lines = data.split(b"\n")
            at, other = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
            if kind == 0:
                del lines[at : other + 1]
            elif kind == 1:
                lines[at:at] = [lines[other]] * draw(st.integers(1, 20))
            else:
                lines[at], lines[other] = lines[other], lines[at]
            data = b"\n".join(lines)
        else:
            at = draw(st.integers(0, len(data)))
            left_out = 0 if kind == 3 else draw(st.integers(1, 40))
            data = data[:at] + draw(st.sampled_from(TOKENS)) + data[at + left_out :]
    return data


def seconds(target, data):
    """Return the processor time of this thread, without the collection of what other tests have left."""
    gc.disable()
    try:
        start = time.thread_time()
        target.try_(data)
        return time.thread_time() - start
    finally:
        gc.enable()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_found_is_withstood(name):
    target = find_target(name)
    assert target.seeds
    for seed in target.seeds:
        target.try_(seed.read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_damaged_input_is_read_or_refused(name):
    target = find_target(name)

    @settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(damaged([seed.read_bytes() for seed in target.seeds]))
    def withstand(data):
        assert seconds(target, data) < SECONDS + SECONDS_PER_BYTE * len(data)

    withstand()


def long_inputs(seed):
    """Yield functions that make an input of about a length: from lines of a seed, and from delimiters."""
    shapes = {re.sub(rb"[\w.$]+", b"x", line): line for line in seed.split(b"\n")}
    for line in list(shapes.values())[:40]:
        yield lambda size, line=line: (line + b"\n") * (size // (len(line) + 1))
        yield lambda size, line=line: line * (size // max(len(line), 1))
    for token in TOKENS:
        yield lambda size, token=token: token * (size // len(token))
        yield lambda size, token=token: seed + token * (size // len(token))


@pytest.mark.parametrize("name", NAMES)
def test_the_time_is_linear_in_the_length(name):
    target = find_target(name)
    for seed in target.seeds[:1]:
        for make in long_inputs(seed.read_bytes()):
            short, long = make(LONG_BYTES // 2), make(LONG_BYTES)
            if (taken := seconds(target, long)) > LEAST_SECONDS:
                half = min(seconds(target, short) for _ in range(3))
                taken = min(taken, *(seconds(target, long) for _ in range(2)))
                assert taken < GROWTH * half + LEAST_SECONDS, (long[:200], half, taken)


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < CORPUS_BYTES
