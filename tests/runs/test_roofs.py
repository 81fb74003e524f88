"""Test that measured roofs apply to runs on the same GPU only, and come from our own kernels only."""

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest
from recorded import documents

from explorer.examples import find_example, load_examples
from explorer.model import Done, Measurement
from explorer.model.measurements import Roof, Roofs
from explorer.runs.roofs import roofs_request, roofs_run
from explorer.sandbox.nvidia import Gpu
from explorer.services import Services
from explorer.store import open_store
from explorer.store.entry_writer import EntryWriter

H200 = Gpu("GPU-a", "NVIDIA H200", "9.0", "580", 0)
ROOFS = Roofs((Roof("dram", "memory", 4.4e12, "measured", "copy"),))


class Host(SimpleNamespace):
    gpu_target = Services.gpu_target


@pytest.fixture
def host(tmp_path):
    """A machine with a GPU, as the store sees it."""
    store = open_store(tmp_path)
    yield Host(gpus=(H200,), versions=("3.9.0", "3.6.0"), store=store)
    store.close()


def keep(host, request, *measured):
    record = host.store.submit(request)
    batch = host.store.batch()
    writer = EntryWriter(batch)
    entries = [
        writer.write(Measurement(name, msgspec.json.encode(document).decode())) for name, document in measured
    ]
    host.store.finish(record.id, (*entries, Done("complete", 1.0)), batch)
    return record.id


def test_without_a_gpu_there_are_none(host):
    host.gpus = ()
    assert roofs_request(host) is None
    assert roofs_run(host, "NVIDIA H200") is None


def test_they_are_measured_by_code_of_our_own(host):
    request = roofs_request(host)
    assert request.source in {example.source for example in load_examples()}
    assert request.source == find_example("vector_add").source
    assert (request.target, request.triton) == ("cuda:90", "3.9.0")
    assert request.run.measures == ("roofs",)


def test_they_hold_for_the_same_gpu_once_they_are_there(host):
    assert roofs_run(host, "NVIDIA H200") is None
    keep(host, roofs_request(host), ("environment", documents()["environment"]), ("roofs", ROOFS))
    assert roofs_run(host, "NVIDIA H200").measured("roofs", Roofs) == ROOFS
    assert roofs_run(host, "NVIDIA A100") is None


def test_what_other_code_claims_to_reach_is_not_believed(host):
    request = roofs_request(host)
    forged = replace(request, source=request.source + "\n# mine")
    keep(host, forged, ("environment", documents()["environment"]), ("roofs", ROOFS))
    assert roofs_run(host, "NVIDIA H200") is None
