"""Test that a run knows the times of the configurations, also if another run of the launch measured them."""

from dataclasses import replace
from pathlib import Path

import pytest
from recorded import documents

from explorer.analysis.roofline.compose import roofline
from explorer.model import Request, Run
from explorer.model.measurements import Autotuning
from explorer.profiles.read import Profiles
from explorer.queries.run_facts import facts_of
from explorer.runs.related import tuned_run

PROFILES = Profiles(Path(__file__).parents[2] / "proton_profiles")
REQUEST = Request("source", "cuda:90", "3.6.0", config=3, task="run", run=Run("gpu", ("time",), repeats=7))


@pytest.mark.parametrize(("number", "fastest"), [(0, False), (1, True)])
def test_the_persistent_matmul_is_advised_as_its_table_says(store, number, fastest):
    """The table has more stages and larger tiles that are faster, so that fewer are never advised."""
    run = PROFILES.find(f"recorded-matmul_persistent-{number}").record
    tuned = tuned_run(store, PROFILES, run)
    assert tuned.id == "recorded-matmul_persistent-0"
    found = roofline(facts_of(run, None, None, tuned.measured("autotuning", Autotuning)))
    assert [each.name for each in found.hints if each.name == "configurations"] == (
        [] if fastest else ["configurations"]
    )
    words = " ".join(f"{each.title} {each.text}" for each in found.hints).lower()
    assert not any(each in words for each in ("fewer stages", "less shared memory", "smaller tiles"))
    if not fastest:
        assert "Configuration 3 is faster" in {each.title for each in found.hints}


def test_a_run_of_another_configuration_has_the_table(store, keep):
    run = keep(REQUEST, timings=documents()["timings"])
    assert tuned_run(store, PROFILES, run) is None
    wanted = replace(REQUEST.run, measures=("autotune",), repeats=50)
    other = keep(replace(REQUEST, config=None, run=wanted), autotuning=documents()["autotuning"])
    assert tuned_run(store, PROFILES, run).id == other.id
    assert tuned_run(store, PROFILES, other).id == other.id


def test_a_run_of_another_size_does_not_count(store, keep):
    run = keep(REQUEST, timings=documents()["timings"])
    wanted = replace(REQUEST.run, measures=("autotune",), sizes={"size": 4096})
    keep(replace(REQUEST, run=wanted), autotuning=documents()["autotuning"])
    assert tuned_run(store, PROFILES, run) is None
