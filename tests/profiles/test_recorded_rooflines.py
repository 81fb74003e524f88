"""Test that each profile of the gallery has a roofline with consistent numbers."""

from pathlib import Path

import pytest

from explorer.analysis.roofline.compose import roofline
from explorer.profiles.read import Profiles
from explorer.queries.run_facts import facts_of, heat_of

RECORDINGS = Profiles(Path(__file__).parents[2] / "proton_profiles").all


@pytest.fixture(params=sorted(RECORDINGS))
def recorded(request):
    return roofline(facts_of(RECORDINGS[request.param].record, None))


def test_every_kernel_is_judged_by_what_was_measured(recorded):
    found = recorded
    assert (found.reason, found.is_modelled) == ("", False)
    assert found.verdict.startswith("The kernel reaches ")
    assert [each.source for each in found.floors] == ["datasheet", "measured"]
    assert {each.bytes.source for each in found.traffic if each.bytes} == {"measured"}
    # Nothing is faster than light.
    assert 0 < found.floors[0].share <= 1
    assert all(hint.evidence and hint.gain_ns is not None for hint in found.hints)


def test_what_goes_through_the_l2_is_no_more_than_was_asked_for(recorded):
    moved = {each.level: each.bytes.value for each in recorded.traffic if each.bytes}
    assert moved["l2"] <= moved["l1"] * 1.01
    assert all(each.intensity > 0 and each.rate > 0 for each in recorded.dots)


@pytest.mark.parametrize("name", [name for name in sorted(RECORDINGS) if "-matmul" in name])
def test_products_of_8192_do_2_times_8192_cubed(name):
    found = roofline(facts_of(RECORDINGS[name].record, None))
    assert found.operation == "tensor fp16"
    assert found.operations[0].count.value == 2 * 8192**3
    assert found.operations[0].rate == pytest.approx(2 * 8192**3 / found.time.median_ns * 1e9)


def test_vector_add_reaches_nine_tenths_of_the_datasheet():
    found = roofline(facts_of(RECORDINGS["recorded-vector_add-0"].record, None))
    assert found.floors[0].binding == "dram"
    assert found.floors[0].share == pytest.approx(0.91, abs=0.01)
    assert found.hints == []


def test_the_strided_copy_is_told_which_line_is_scattered(services):
    from explorer.examples import find_example
    from explorer.model import Request

    recording = RECORDINGS["recorded-copy_coalesced_strided-1"]
    asked = recording.request
    source = find_example(recording.example).source
    request = Request(source, asked.target, asked.triton, kernel=asked.kernel, launch=asked.launch)
    found = roofline(facts_of(recording.record, services.queue.complete(request)))
    hint = found.hints[0]
    assert hint.title == f"Line {hint.source_line} uses 4 of every 32 bytes that it transfers"
    assert "tl.load" in source.splitlines()[hint.source_line - 1]


@pytest.mark.parametrize("name", sorted({profile.example for profile in RECORDINGS.values()}))
def test_an_example_in_the_version_of_its_profile_has_hot_lines(name, services):
    from explorer.examples import find_example
    from explorer.model import Request
    from explorer.model.measurements import Samples

    profile = RECORDINGS[f"recorded-{name}-0"]
    request = Request(find_example(name).source, profile.request.target, profile.request.triton)
    compilation = services.queue.complete(request)
    assert profile.match(compilation) in ("exact", "same kernel")
    document = heat_of(profile.record.measured("samples", Samples), compilation)
    assert (document.reason, bool(document.source)) == ("", True)
