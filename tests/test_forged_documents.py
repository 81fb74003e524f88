"""Documents that are of their type and yet make no sense, as a run's own code may forge them."""

import csv
import json

import pytest
from recorded import recording

from explorer.measurements import Counts, Sweep, SweepPoint
from explorer.model import to_plain
from explorer.recordings import RecordingError, decode_document, read_recordings
from explorer.run_files import sweep_table
from explorer.run_summary import summary_of

POINT = {"sizes": {}, "values": [], "low": [], "high": []}
CONFIG = {
    "config": 0,
    "arguments": {f"n{number}": 1 for number in range(1000)},
    "options": {},
    "median_ns": None,
    "low_ns": None,
    "high_ns": None,
}
EMPTY = {
    "sweep": {"name": "", "size_names": [], "lines": [], "unit": "", "is_logarithmic": False, "points": []},
    "autotuning": {"best": None},
}


@pytest.fixture
def run_with(tmp_path):
    """The record of a run with these documents beside, or in the place of, its own."""

    def make(**measurements):
        file = recording("source")
        file["runs"][0]["measurements"].update(to_plain(measurements))
        path = tmp_path / "forged.json"
        path.write_text(json.dumps(file))
        (found,) = read_recordings(path)
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
    with pytest.raises(RecordingError, match=reason):
        decode_document(name, json.dumps(whole).encode())


def test_counts_of_any_length_are_summarised(run_with):
    counts = Counts(1, 1, (), 10**400, 0, 1, 0, 1, {})
    assert "loaded more bytes than there can be" in summary_of(run_with(counts=counts), None)
