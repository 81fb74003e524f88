"""Test that a run knows the times of the configurations, also if another run of the launch measured them."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from recorded import documents

from explorer.analysis.roofline.compose import roofline
from explorer.model import Done, Measurement, Request, Run
from explorer.model.measurements import Autotuning
from explorer.profiles.read import Profiles
from explorer.queries.run_facts import facts_of
from explorer.runs.related import tuned_run
from explorer.store import open_store
from explorer.store.entry_writer import EntryWriter

PROFILES = Profiles(Path(__file__).parents[2] / "proton_profiles")
REQUEST = Request("source", "cuda:90", "3.6.0", config=3, task="run", run=Run("gpu", ("time",), repeats=7))


@pytest.fixture
def store(tmp_path):
    with closing(open_store(tmp_path)) as opened:
        yield opened


def keep(store, request, *names):
    record = store.submit(request)
    batch = store.batch()
    writer = EntryWriter(batch)
    entries = [
        writer.write(Measurement(name, msgspec.json.encode(documents()[name]).decode()))
        for name in ("environment", *names)
    ]
    store.finish(record.id, (*entries, Done("complete", 1.0)), batch)
    return store.find(record.id)


@pytest.mark.parametrize(("number", "fastest"), [(0, False), (1, True)])
def test_the_persistent_matmul_is_advised_as_its_table_says(store, number, fastest):
    """The table has more stages and larger blocks that are faster, so that fewer are never advised."""
    run = PROFILES.find(f"recorded-matmul_persistent-{number}").record
    tuned = tuned_run(store, PROFILES, run)
    assert tuned.id == "recorded-matmul_persistent-0"
    found = roofline(facts_of(run, None, None, tuned.measured("autotuning", Autotuning)))
    assert [each.name for each in found.hints if each.name == "configurations"] == (
        [] if fastest else ["configurations"]
    )
    words = " ".join(f"{each.title} {each.text}" for each in found.hints).lower()
    assert not any(each in words for each in ("fewer stages", "less shared memory", "smaller blocks"))
    if not fastest:
        assert "Configuration 3 is faster" in {each.title for each in found.hints}


def test_a_run_of_another_configuration_has_the_table(store):
    run = keep(store, REQUEST, "timings")
    assert tuned_run(store, PROFILES, run) is None
    wanted = replace(REQUEST.run, measures=("autotune",), repeats=50)
    other = keep(store, replace(REQUEST, config=None, run=wanted), "autotuning")
    assert tuned_run(store, PROFILES, run).id == other.id
    assert tuned_run(store, PROFILES, other).id == other.id


def test_a_run_of_another_size_does_not_count(store):
    run = keep(store, REQUEST, "timings")
    wanted = replace(REQUEST.run, measures=("autotune",), sizes={"size": 4096})
    keep(store, replace(REQUEST, run=wanted), "autotuning")
    assert tuned_run(store, PROFILES, run) is None
