"""Test writing profiles, with runs in the interpreter."""

import json
from datetime import UTC, datetime

import pytest

from explorer.examples import find_example
from explorer.model import Request, Run
from explorer.model.measurements import Check
from explorer.profiles.read import Profiles
from explorer.profiles.write import MOST_SCOPES, ProfileRecorder, compact, write_profiles
from explorer.runs.requests import run_request

SMALL = Run("interpreter", ("check", "counts"), is_benchmark=True, sizes={"size": 4096})


@pytest.fixture
def recorder(services):
    def run_kernel(compilation, run):
        return services.queue.complete(run_request(services.queue, compilation, run))

    return ProfileRecorder(services.queue, run_kernel)


def test_what_is_written_is_found_again(services, recorder, tmp_path):
    source = find_example("vector_add").source
    request = Request(source, "cuda:90", services.versions[0])
    recorder.roofs = {"roofs": []}
    measured = recorder.record(request, SMALL)
    assert measured["check"]["outputs"][0]["matches"], recorder.diagnostics
    date = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    path = write_profiles(tmp_path, "vector_add", "triton-explorer record", date, recorder.runs * 2)
    assert json.loads(path.read_text())["runs"][0]["measurements"] == measured
    compilation = services.queue.complete(request)
    found = Profiles(tmp_path).matching(compilation)
    assert [match for _, match in found] == ["exact", "exact"]
    recording = found[0][0]
    assert recording.date == date
    assert recording.request.run == SMALL
    assert recording.request.launch == 0
    assert recording.measurements.keys() == measured.keys() | {"roofs"}
    ((record, compiled),) = recorder.finished
    assert compiled.id == compilation.id
    assert record.measured("check", Check).outputs[0].matches


def test_a_run_that_fails_is_not_recorded(services, recorder):
    request = Request("raise ValueError('not today')", "cuda:90", services.versions[0])
    assert recorder.record(request, SMALL) is None
    assert recorder.runs == []
    assert any("not today" in diagnostic.message for diagnostic in recorder.diagnostics)


@pytest.mark.parametrize(
    ("number", "kept"), [(1 / 3, 0.333333), (123456789.0, 123456789.0), (7, 7), (None, None)]
)
def test_measured_numbers_are_rounded_and_counted_ones_are_not(number, kept):
    assert compact("counters", {"metrics": {"x": number}})["metrics"]["x"] == kept


def test_what_is_long_is_cut_and_says_so():
    timeline = compact("timeline", {"scopes": [{}] * (MOST_SCOPES + 5), "cut": 2})
    assert (len(timeline["scopes"]), timeline["cut"]) == (MOST_SCOPES, 7)
    samples = [{"samples": 0, "sectors": None}, {"samples": 3, "sectors": None}, {"samples": 0, "sectors": 8}]
    assert len(compact("samples", {"instructions": samples})["instructions"]) == 2
    files = [{"name": name, "data": "x" * size} for name, size in (("big", 10**6), ("small", 10))]
    assert [file["name"] for file in compact("files", {"files": files})["files"]] == ["small"]
