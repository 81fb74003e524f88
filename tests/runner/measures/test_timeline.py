"""Test the reading of warp scopes from Proton's Chrome trace."""

import json
from pathlib import Path

import pytest

from explorer.runner.measures import timeline

TRACE = json.loads((Path(__file__).parents[1] / "profilers/outputs" / "scopes.chrome_trace").read_text())


def test_every_warp_of_every_block_has_its_scopes():
    found = timeline.timeline(TRACE, clock_mhz=1980)
    places = {(scope.block, scope.multiprocessor, scope.warp, scope.name) for scope in found.scopes}
    assert places == {
        (block, core, warp, name)
        for block, core in ((22, 0), (57, 10))
        for warp in range(4)
        for name in ("load", "compute", "store")
    }
    assert (found.reason, found.cut) == ("", 0)
    assert min(scope.start_ns for scope in found.scopes) == 0


def test_cycles_become_nanoseconds_by_the_clock():
    slow, fast = (timeline.timeline(TRACE, clock_mhz) for clock_mhz in (1000, 2000))
    first = next(
        scope for scope in slow.scopes if (scope.block, scope.warp, scope.name) == (22, 0, "compute")
    )
    same = next(scope for scope in fast.scopes if (scope.block, scope.warp, scope.name) == (22, 0, "compute"))
    assert first.duration_ns == pytest.approx(1480)
    assert same.duration_ns == pytest.approx(740)
    starts = [{scope.block: scope.start_ns for scope in reversed(each.scopes)} for each in (slow, fast)]
    assert starts[0][57] - starts[0][22] == pytest.approx(starts[1][57] - starts[1][22], abs=60), (
        "blocks start by the GPU's timer, whatever the clock"
    )


def test_a_long_trace_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_SCOPES", 10)
    found = timeline.timeline(TRACE, clock_mhz=1980)
    assert (len(found.scopes), found.cut) == (10, 14)


def test_a_trace_without_scopes_says_how_to_mark_them():
    found = timeline.timeline({"traceEvents": []}, clock_mhz=1980)
    assert "pl.scope" in found.reason


def test_what_a_page_could_not_draw_is_cut(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_SCOPE_NAMES", 2)
    monkeypatch.setattr(timeline, "MOST_NAME_CHARACTERS", 3)
    found = timeline.timeline(TRACE, clock_mhz=1980)
    assert {scope.name for scope in found.scopes} == {"loa", "com"}
    assert (len(found.scopes), found.cut) == (16, 8)
