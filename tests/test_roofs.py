"""Limits measured on this machine once: for runs on the same GPU only, and by our own code only."""

from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest
from recorded import documents

from explorer.examples import find_example, load_examples
from explorer.jobs.nvidia import Gpu
from explorer.measurements import Roof, Roofs
from explorer.model import Done, Measurement
from explorer.roofs import kept_roofs, roofs_request
from explorer.services import Services
from explorer.settings import Settings
from explorer.store import Store
from explorer.store.entries import Recorder

H200 = Gpu("GPU-a", "NVIDIA H200", "9.0", "580", 0)
ROOFS = Roofs((Roof("dram", "memory", 4.4e12, "measured", "copy"),))


class Host(SimpleNamespace):
    gpu_target = Services.gpu_target


@pytest.fixture
def host(tmp_path):
    """A machine with a GPU, as far as the store knows it."""
    store = Store(Settings(data_dir=tmp_path))
    yield Host(gpus=(H200,), versions=("3.9.0", "3.6.0"), store=store)
    store.close()


def keep(host, request, *measured):
    record = host.store.submit(request)
    batch = host.store.batch()
    recorder = Recorder(batch)
    entries = [
        recorder.record(Measurement(name, msgspec.json.encode(document).decode()))
        for name, document in measured
    ]
    host.store.finish(record.id, (*entries, Done("complete", 1.0)), batch)
    return record.id


def test_without_a_gpu_there_are_none(host):
    host.gpus = ()
    assert roofs_request(host) is None
    assert kept_roofs(host, "NVIDIA H200") is None


def test_they_are_measured_by_code_of_our_own(host):
    request = roofs_request(host)
    assert request.source in {example.source for example in load_examples()}
    assert request.source == find_example("vector_add").source
    assert (request.target, request.triton) == ("cuda:90", "3.9.0")
    assert request.run.measures == ("roofs",)


def test_they_hold_for_the_same_gpu_once_they_are_there(host):
    assert kept_roofs(host, "NVIDIA H200") is None
    keep(host, roofs_request(host), ("environment", documents()["environment"]), ("roofs", ROOFS))
    assert kept_roofs(host, "NVIDIA H200") == ROOFS
    assert kept_roofs(host, "NVIDIA A100") is None


def test_what_other_code_claims_to_reach_is_not_believed(host):
    request = roofs_request(host)
    forged = replace(request, source=request.source + "\n# mine")
    keep(host, forged, ("environment", documents()["environment"]), ("roofs", ROOFS))
    assert kept_roofs(host, "NVIDIA H200") is None
