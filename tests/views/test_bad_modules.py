"""Test that queries report modules they cannot read, and that all other queries work."""

import dataclasses

import pytest
from altered_results import ROTATING, SCALAR, long_module, store_altered, with_stage_text
from tritons import TRITONS

from explorer.examples import find_example
from explorer.model import Allocation, Pass, Request
from explorer.store import PassEntry

COMPILER_QUERIES = (
    "layouts",
    "allocation",
    "registers",
    "tensor_registers",
    "occupancy",
    "graph?stage=ttir",
    "graph?stage=ttgir",
    "graph?stage=sass",
)


@pytest.fixture(scope="module", params=TRITONS)
def matmul(request, services):
    source = find_example("matmul").source
    return services.queue.complete(Request(source, "cuda:90", services.triton_version(request.param)))


@pytest.fixture
def ask(client):
    """Query a result; return the document or the error message. A server error fails the test."""

    def ask(record, question):
        response = client.get(f"/api/v1/compilations/{record.id}/{question}")
        assert response.status_code in (200, 422), (question, response.text)
        return response.get_json() if response.status_code == 200 else response.get_json()["detail"]

    return ask


def refused(ask, record):
    """Return the queries without an answer, and why."""
    return {each: words for each in COMPILER_QUERIES if isinstance(words := ask(record, each), str)}


def without_dump(entry):
    return None if isinstance(entry, Allocation) else entry


def shortened(buffers, shared_bytes=98_304):
    """Cut a dump off after a number of buffers."""

    def alter(entry):
        if isinstance(entry, Allocation):
            return dataclasses.replace(entry, buffers=entry.buffers[:buffers], shared_bytes=shared_bytes)
        return entry

    return alter


@pytest.mark.parametrize("triton", TRITONS)
def test_a_kernel_of_single_values_has_no_layouts(services, ask, triton):
    record = services.queue.complete(Request(SCALAR, "cuda:90", services.triton_version(triton)))
    assert record.status == "complete"
    why = refused(ask, record)
    assert set(why) == {"layouts", "tensor_registers"}
    for words in why.values():
        assert "uses only single values" in words
        assert "tl.arange" in words
    assert "Select TTGIR" in ask(record, "layouts?stage=ttir")


def test_an_encoding_that_the_compiler_cannot_read(services, ask, matmul):
    text = matmul.text(matmul.stage("ttgir").text).replace("#ttg.nvidia_mma<", "#ttg.quantum<")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "#ttg.quantum<" in each)
    why = refused(ask, store_altered(services.store, matmul, with_stage_text(matmul, "ttgir", text)))
    assert set(why) == {"layouts", "tensor_registers"}
    for words in why.values():
        assert f"Line {line}: unknown attribute `quantum`" in words
        assert "Check the text" in words


def test_an_encoding_that_has_no_picture_takes_no_other_one_along(services, ask, matmul):
    """The parser accepts it; the tools that name layouts do not."""
    altered = with_stage_text(matmul, "ttgir", ROTATING)
    record = store_altered(services.store, matmul, altered)
    assert refused(ask, record) == {}
    registers, shared = ask(record, "layouts")["layouts"]
    assert (registers["kind"], shared["kind"]) == ("blocked", "rotating shared")
    assert registers["bases"] is not None
    assert shared["bases"] is None
    assert shared["reason"].startswith("The compiler has no linear layout for it: ")


@pytest.mark.parametrize("buffers", [0, 1, 2])
def test_a_dump_that_is_cut_off_says_what_is_missing(services, ask, matmul, buffers):
    record = store_altered(services.store, matmul, shortened(buffers))
    assert refused(ask, record) == {}
    (function,) = ask(record, "allocation")["functions"]
    assert len(function["buffers"]) == buffers
    assert f"truncated: {3 - buffers} of 3 buffers of the module are missing" in function["problem"]
    assert "Compile again" in function["problem"]
    (sound,) = ask(matmul, "allocation")["functions"]
    assert sound["problem"] == ""


def test_a_dump_without_an_end_is_none_and_says_so(services, ask, matmul):
    why = refused(ask, store_altered(services.store, matmul, without_dump))
    assert set(why) == {"allocation"}
    assert "missing or truncated, though allocate-shared-memory-nv has run" in why["allocation"]
    assert "Passes pane" in why["allocation"]


def test_a_module_that_is_cut_off_leaves_the_buffers_of_the_dump(services, ask, matmul):
    index = matmul.result.allocations[0].pass_index

    def halved(entry):
        if not isinstance(entry, PassEntry) or entry.index < index or entry.text is None:
            return entry
        text = matmul.text(entry.text)
        return Pass(entry.index, entry.stage, entry.name, entry.title, (), 1.0, text[: len(text) // 2])

    record = store_altered(services.store, matmul, halved)
    assert refused(ask, record) == {}
    (function,) = ask(record, "allocation")["functions"]
    assert len(function["buffers"]) == 3
    assert "were not found at their positions" in function["problem"]
    assert "Passes pane" in function["problem"]


@pytest.mark.parametrize("matmul", TRITONS[:1], indirect=True)
def test_a_graph_of_a_hundred_thousand_nodes_is_cut_in_words(services, ask, matmul):
    text = long_module(100_000)
    record = store_altered(services.store, matmul, with_stage_text(matmul, "ttir", text))
    document = ask(record, "graph?stage=ttir")
    assert document["total_nodes"] == 100_001
    assert len(document["nodes"]) == 5000
    assert document["cut"].startswith("The graph has 100,001 nodes, more than the limit of 5,000")
