"""Test that measured roofs apply to runs on the same GPU only, and come from our own kernels only."""

from dataclasses import replace

from explorer.examples import find_example, load_examples
from explorer.model.measurements import Roof, Roofs
from explorer.runs.roofs import roofs_request, roofs_run

ROOFS = Roofs((Roof("dram", "memory", 4.4e12, "measured", "copy"),))
REQUEST = roofs_request("cuda:90", ("3.9.0", "3.6.0"))


def test_without_a_gpu_there_are_none(store):
    assert roofs_request(None, ("3.9.0",)) is None
    assert roofs_run(store, None, "NVIDIA H200") is None


def test_they_are_measured_by_code_of_our_own():
    assert REQUEST.source in {example.source for example in load_examples()}
    assert REQUEST.source == find_example("vector_add").source
    assert (REQUEST.target, REQUEST.triton) == ("cuda:90", "3.9.0")
    assert REQUEST.run.measures == ("roofs",)


def test_they_hold_for_the_same_gpu_once_they_are_there(store, keep):
    assert roofs_run(store, REQUEST, "NVIDIA H200") is None
    keep(REQUEST, roofs=ROOFS)
    assert roofs_run(store, REQUEST, "NVIDIA H200").measured("roofs", Roofs) == ROOFS
    assert roofs_run(store, REQUEST, "NVIDIA A100") is None


def test_what_other_code_claims_to_reach_is_not_believed(store, keep):
    forged = replace(REQUEST, source=REQUEST.source + "\n# mine")
    keep(forged, roofs=ROOFS)
    assert roofs_run(store, REQUEST, "NVIDIA H200") is None
