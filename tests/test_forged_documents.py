"""Documents that are of their type and yet make no sense, as a run's own code may forge them."""

import csv
import json

import pytest
from recorded import recording

from explorer.measurements import Counts, Sweep, SweepPoint
from explorer.model import to_plain
from explorer.recordings import read_recordings
from explorer.run_files import sweep_table
from explorer.run_summary import summary_of


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


def test_counts_of_any_length_are_summarised(run_with):
    counts = Counts(1, 1, (), 10**400, 0, 1, 0, 1, {})
    assert "loaded more bytes than there can be" in summary_of(run_with(counts=counts), None)
