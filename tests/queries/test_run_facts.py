"""Test the facts of a run from its documents and its compilation."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from explorer.analysis.roofline.compose import roofline
from explorer.examples import find_example
from explorer.model import Done, Request, Run, to_plain
from explorer.model.measurements import LaunchFacts, RunArgument
from explorer.queries.run_facts import facts_of
from explorer.store import MeasurementEntry, Record

RECORDED = Path(__file__).parents[1] / "analysis/recorded"


def run_of(compilation, **documents):
    data = {name: json.dumps(to_plain(document)).encode() for name, document in documents.items()}
    request = dataclasses.replace(compilation.request, task="run", run=Run("gpu"))
    entries: tuple[Any, ...] = (*(MeasurementEntry(name, name) for name in data), Done("complete", 1.0))
    return Record("RUN", request, compilation.created, "complete", entries, True, None, data.__getitem__)


@pytest.fixture(scope="module")
def matmul(services):
    source = (RECORDED / "matmul.source.txt").read_text()
    return services.queue.complete(Request(source, "cuda:90", services.triton_version("3.6.0")))


def test_the_program_of_a_matmul_says_what_it_does(matmul):
    """2·M·N·K operations; the bytes equal the counters of an H200's L1 cache."""
    sizes = (RunArgument(name, "i32", 8192) for name in "MNK")
    launch = LaunchFacts("matmul_kernel", 34, (4096,), tuple(sizes))
    facts = facts_of(run_of(matmul, launch=launch), matmul)
    assert facts.static.operations == {"tensor fp16": 2.0 * 8192**3}
    assert facts.static.requested_bytes == 17_314_086_912
    assert facts.tensor_instructions
    assert facts.waves.at_once == 2 * 132


def test_samples_are_joined_with_the_compilation(matmul):
    samples = json.loads((RECORDED / "matmul.samples.json").read_text())
    facts = facts_of(run_of(matmul, samples=samples), matmul)
    assert facts.heat.samples == sum(each["samples"] for each in samples["instructions"])
    assert facts.stall_shares["barrier"] == pytest.approx(47_793 / facts.heat.samples)


def test_a_run_without_a_compilation_has_its_documents(matmul):
    launch = LaunchFacts("matmul_kernel", 34, (4096,), (), stated={"flops16": 2.0 * 8192**3})
    facts = facts_of(run_of(matmul, launch=launch), None)
    assert (facts.resources, facts.heat, facts.static) == (None, None, None)
    found = roofline(facts)
    assert (found.operation, found.operations[0].count.source) == ("fp16", "stated")


def test_another_binary_says_nothing_of_this_one(matmul, services):
    from recorded import documents

    other = facts_of(run_of(matmul, environment=documents("not this one")["environment"]), matmul)
    assert other.resources is None
    assert other.tensor_instructions is None
    same = documents(matmul.result.binary.data)["environment"]
    assert facts_of(run_of(matmul, environment=same), matmul).resources is not None


def test_every_example_has_a_document(services):
    record = services.queue.complete(
        Request(find_example("flash_attention").source, "cuda:90", services.triton_version(None))
    )
    launch = LaunchFacts(record.kernel, 1, (64, 16), ())
    found = roofline(facts_of(run_of(record, launch=launch), record))
    assert "Measure counters" in found.reason
    msgspec.json.encode(found)


@pytest.mark.parametrize(
    ("example", "target", "uses"),
    [("vector_add", "cuda:90", False), ("matmul", "cuda:80", True), ("matmul", "hip:gfx942", True)],
)
def test_matrix_units_are_found_in_the_machine_code(services, example, target, uses):
    record = services.queue.complete(
        Request(find_example(example).source, target, services.triton_version(None))
    )
    assert facts_of(run_of(record), record).tensor_instructions is uses
