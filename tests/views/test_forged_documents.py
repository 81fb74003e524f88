"""Test documents of the right type with absurd values, as hostile code could forge them."""

import csv
import json
from typing import Any

import pytest
from recorded import documents, recording

from explorer.analysis.roofline.compose import roofline
from explorer.model import Measurement, encode_event, to_plain
from explorer.model.measurements import Conditions, Counts, Scope, Sweep, SweepPoint, Timeline
from explorer.model.measurements.limits import MOST_SCOPE_NAMES, MOST_SCOPES
from explorer.profiles.read import ProfileError, decode_document, read_profiles
from explorer.queries.run_facts import facts_of
from explorer.runs.files import sweep_table
from explorer.runs.summary import summary_of
from explorer.sandbox.errors import ProtocolError
from explorer.sandbox.protocol import EventStream, decode_event
from explorer.sandbox.settings import SandboxSettings

POINT: dict[str, Any] = {"sizes": {}, "values": [], "low": [], "high": []}
CONFIG = {
    "config": 0,
    "arguments": {f"n{number}": 1 for number in range(1000)},
    "options": {},
    "median_ns": None,
    "low_ns": None,
    "high_ns": None,
}
EMPTY: dict[str, dict[str, Any]] = {
    "sweep": {"name": "", "size_names": [], "lines": [], "unit": "", "is_logarithmic": False, "points": []},
    "autotuning": {"best": None},
}


@pytest.fixture
def run_with(tmp_path):
    """Return the record of a run with these documents added or replaced."""

    def make(**measurements):
        file = recording("source")
        file["runs"][0]["measurements"].update(to_plain(measurements))
        path = tmp_path / "forged.json"
        path.write_text(json.dumps(file))
        (found,) = read_profiles(path)
        return found.record

    return make


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (((), (), ()), ["1", "", "", "", "", "", ""]),
        (((1.0,), (), (3.0,)), ["1", "1.0", "", "3.0", "", "", ""]),
        (((1.0,) * 3, (2.0,) * 3, (3.0,) * 4), ["1", "1.0", "2.0", "3.0", "1.0", "2.0", "3.0"]),
    ],
)
def test_a_table_has_as_many_columns_as_its_head(run_with, values, row):
    sweep = Sweep("sweep", ("n",), ("a", "b"), "GB/s", False, (SweepPoint({"n": 1}, *values),))
    head, written = csv.reader(sweep_table(run_with(sweep=sweep)).splitlines())
    assert written == row
    assert len(head) == len(row)


def test_a_text_stays_in_its_cell_and_computes_nothing(run_with):
    sweep = Sweep("sweep", ("a\r=1", "b;=1", " =1", "＝1"), (), "GB/s", False, ())
    assert sweep_table(run_with(sweep=sweep)) == """"a\r=1","b;=1","' =1","'＝1"\n"""


@pytest.mark.parametrize(
    ("name", "document", "reason"),
    [
        ("sweep", {"lines": ["a"] * 101}, "101 lines; at most 100"),
        ("sweep", {"size_names": ["n"] * 3000, "points": [POINT] * 3000}, "3,000 rows of 3,000 columns"),
        ("autotuning", {"configs": [CONFIG] * 300}, "300 rows of 1,000 columns"),
    ],
)
def test_a_document_of_a_table_that_nothing_could_hold_is_none(name, document, reason):
    whole = {**EMPTY[name], **document}
    with pytest.raises(ProfileError, match=reason):
        decode_document(name, json.dumps(whole).encode())


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (Counts(1, 1, (), 10**400, 0, 1, 0, 1, {}), "loaded more bytes than there can be"),
        (Counts(1, 2, (), 10**400, 0, 1, 0, 1, {}), "to all programs: loaded more bytes than there can be"),
        (
            Counts(109, 256, (), 457_179_136, 0, 1, 0, 1, {}),
            "extrapolated to all programs: loaded 1.07 GB, stored 0 B",
        ),
    ],
)
def test_counts_of_any_length_are_summarised(run_with, counts, words):
    run = run_with(counts=counts)
    assert words in summary_of(run, None, roofline(facts_of(run, None)))


SCOPE = {"name": "load", "block": 0, "multiprocessor": 0, "warp": 0, "start_ns": 0.0, "duration_ns": 1.0}
INSTRUCTION = {"offset_bytes": 0, "instruction": "EXIT", "samples": 1, "stalls": {}}
OPERATION = {"line": 1, "operation": "load", "executions": 1}
WHOLE = {**to_plain(documents()), "counts": to_plain(Counts(1, 1, (), 0, 0, 0, 0, 0, {}))}
ARGUMENT = WHOLE["launch"]["arguments"][0]
OUTPUT = WHOLE["check"]["outputs"][0]
TIMING = WHOLE["timings"]["timings"][0]
CONDITIONS = to_plain(Conditions("before", None, None, None, None, None, ()))
ROOF = {"name": "dram", "kind": "memory", "rate": 1e12, "source": "measured", "method": "copy"}
FILE = WHOLE["files"]["files"][0]
TOO_MUCH = [
    ("timeline", "scopes", [SCOPE] * 20_001, "20,001 scopes; at most 20,000"),
    ("timeline", "scopes", [{**SCOPE, "name": "x" * 201}], "201 characters of a scope's name"),
    ("timeline", "scopes", [{**SCOPE, "name": str(n)} for n in range(1_001)], "1,001 names of scopes"),
    ("timeline", "scopes", [{**SCOPE, "start_ns": 1e300}], "the time of a scope is out of range"),
    ("timeline", "scopes", [{**SCOPE, "duration_ns": -1}], "the time of a scope is out of range"),
    ("timeline", "scopes", [{**SCOPE, "warp": 10**30}], "the place of a scope is out of range"),
    ("samples", "instructions", [INSTRUCTION] * 100_001, "100,001 instructions; at most 100,000"),
    (
        "samples",
        "instructions",
        [{**INSTRUCTION, "instruction": "x" * 1_001}],
        "1,001 characters of an instr",
    ),
    ("samples", "instructions", [{**INSTRUCTION, "stalls": {str(n): 1}} for n in range(101)], "101 reasons"),
    ("counts", "operations", [OPERATION] * 20_001, "20,001 operations of a source"),
    (
        "counts",
        "operations",
        [{**OPERATION, "operation": "x" * 201}],
        "201 characters of an operation's name",
    ),
    ("counts", "flops", {str(n): 1 for n in range(101)}, "101 kinds of operations"),
    ("counters", "metrics", {str(n): 1 for n in range(5_001)}, "5,001 metrics"),
    ("environment", "gpu", "x" * 201, "201 characters of a GPU's name"),
    ("environment", "torch", "x" * 201, "201 characters of a version"),
    ("environment", "binary_sha256", "0" * 201, "201 characters of a hash"),
    ("environment", "conditions", [CONDITIONS] * 11, "11 states of a GPU"),
    ("environment", "conditions", [{**CONDITIONS, "throttled_by": ["power"] * 101}], "101 reasons to slow"),
    ("launch", "grid", [1] * 4, "4 dimensions of a grid"),
    ("launch", "arguments", [ARGUMENT] * 1_001, "1,001 arguments"),
    ("launch", "arguments", [{**ARGUMENT, "shape": [1] * 65}], "65 dimensions"),
    ("launch", "arguments", [{**ARGUMENT, "strides": [1] * 65}], "65 strides"),
    ("launch", "options", {str(n): 1 for n in range(1_001)}, "1,001 options"),
    ("launch", "stated", {str(n): 1 for n in range(101)}, "101 kinds of work that are stated"),
    ("check", "outputs", [OUTPUT] * 1_001, "1,001 outputs"),
    ("check", "outputs", [{**OUTPUT, "shape": [1] * 65}], "65 dimensions"),
    ("check", "outputs", [{**OUTPUT, "worst_index": [0] * 65}], "65 dimensions of an index"),
    ("timings", "timings", [TIMING] * 11, "11 timings"),
    ("timings", "timings", [{**TIMING, "samples_ns": [1.0] * 501}], "501 samples of a time"),
    ("sweep", "problems", ["no"] * 1_001, "1,001 problems"),
    ("sweep", "size_names", ["n"] * 101, "101 names of sizes"),
    ("autotuning", "configs", [{**CONFIG, "arguments": {}}] * 5_001, "5,001 configurations"),
    ("files", "files", [FILE] * 101, "101 files"),
    ("files", "files", [{**FILE, "name": "x" * 201}], "201 characters of a file's name"),
    ("files", "files", [{**FILE, "media_type": "x" * 201}], "201 characters of a media type"),
    ("roofs", "roofs", [ROOF] * 101, "101 roofs"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "field", "value", "reason"), TOO_MUCH, ids=[each[-1] for each in TOO_MUCH])
def test_more_than_a_page_can_draw_is_refused_wherever_it_comes_from(name, field, value, reason):
    document = json.dumps({**WHOLE.get(name, {"reason": ""}), field: value})
    with pytest.raises(ProtocolError, match=f"the measurement {name}: {reason}"):
        decode_event(encode_event(Measurement(name, document)))
    with pytest.raises(ProfileError, match=reason):
        decode_document(name, document.encode())


@pytest.mark.slow
def test_as_much_as_a_run_tells_at_most_is_taken():
    names = [f"scope {number}" for number in range(MOST_SCOPE_NAMES)]
    scopes = (Scope(names[n % len(names)], n, 0, 0, float(n), 1.0) for n in range(MOST_SCOPES))
    event = Measurement("timeline", json.dumps(to_plain(Timeline("", tuple(scopes)))))
    assert decode_event(encode_event(event)) == event


@pytest.mark.slow
def test_every_list_of_every_document_has_a_bound():
    """Repeat the items of a document until it is refused."""
    unbounded = []
    for name, document in WHOLE.items():
        for field, value in document.items():
            if isinstance(value, list | dict) and value:
                items = value * 30_000 if isinstance(value, list) else {str(n): 1 for n in range(30_000)}
                try:
                    decode_document(name, json.dumps({**document, field: items}).encode())
                except ProfileError:
                    continue
                unbounded.append(f"{name}.{field}")
    assert unbounded == []


def test_a_measurement_does_not_come_again_and_again():
    stream = EventStream(SandboxSettings())
    line = encode_event(Measurement("roofs", '{"roofs":[]}'))
    assert len(stream.feed(line + line)) == 2
    with pytest.raises(ProtocolError, match="roofs came more than 2 times"):
        stream.feed(line)
