"""The modules after the passes never cost the result."""

import time

import pytest

from explorer.model import Request
from explorer.pipeline import passes, time_limit
from explorer.pipeline.job import perform

pytestmark = pytest.mark.slow


@pytest.fixture
def events(monkeypatch, tmp_path):
    """Compile a kernel whose modules a copy of the process never finishes to print."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    monkeypatch.setattr(passes, "_LARGE_CHARACTERS", 0)

    def texts(*_arguments):
        yield "the first module", ""
        time.sleep(120)

    monkeypatch.setattr(passes, "_texts", texts)
    yield []
    time_limit.set_job_seconds(30.0)


@pytest.mark.parametrize(("job_seconds", "printing_seconds"), [(30.0, 0.5), (2.5, 60.0)])
def test_printing_ends_in_time(events, monkeypatch, vector_add, job_seconds, printing_seconds):
    monkeypatch.setattr(passes, "_PRINTING_SECONDS", printing_seconds)
    time_limit.set_job_seconds(job_seconds)
    start = time.monotonic()
    perform(Request(vector_add, "cuda:90", ""), events.append)
    assert time.monotonic() - start < 30
    assert events[-1].status == "complete"
    emitted = [event for event in events if event.kind == "pass"]
    first = next(each for each in emitted if each.text == "the first module")
    later = emitted[emitted.index(first) + 1 :]
    assert later
    assert {(each.text, each.omitted) for each in later} == {(None, "printing it takes too long")}
    names = [event.name for event in events if event.kind == "stage"]
    assert names[-1] == "sass"
    assert events.index(first) > next(index for index, event in enumerate(events) if event.kind == "binary")
