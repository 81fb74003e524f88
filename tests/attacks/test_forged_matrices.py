"""Matrices with forged cells: a table would show a text of one cell up to 500 times."""

import uuid

import pytest

from explorer.errors import InvalidRequest
from explorer.matrix import Configuration, Matrix, configurations_of
from explorer.model import Diagnostic, Done, Inspection, Request, Specialized
from explorer.model.kernels import Config, Kernel
from explorer.store.entry_writer import EntryWriter

CELLS = 20


@pytest.fixture
def table(services, client):
    """Store a matrix whose cells have failed with these events; return its address."""

    def make(*events, config=None):
        base = Request(f"# {uuid.uuid4()}", "cuda:90", "3.9.0")
        configurations = (Configuration(config, {"num_warps": number}) for number in range(CELLS))
        matrix = Matrix(base, tuple(configurations), (base.target,), (base.triton,))
        for cell in matrix.cells:
            put(services.store, cell.request, *events, Done("failed", 1.0))
        stored = services.store.collections.put("matrix", matrix.content(), "", "")
        address = f"/api/v1/matrices/{stored.id}"
        return [client.get(address), *(client.get(f"{address}/table.{name}") for name in ("csv", "md"))]

    return make


def put(store, request, *events):
    batch = store.batch()
    writer = EntryWriter(batch)
    record = store.submit(request)
    store.finish(record.id, [writer.write(event) for event in events], batch)
    return record.id


def inspection(*configs):
    return Inspection((Kernel("k", 1, "triton", (), configs),), ())


def test_a_long_message_is_shown_in_part(table):
    for response in table(Diagnostic("error", "x" * 1_000_000)):
        assert response.status_code == 200
        assert len(response.data) < 100_000
        assert "x" * 1000 in response.text


@pytest.mark.parametrize(
    "arguments",
    [{f"n{number}": number for number in range(50_000)}, {"n": "x" * 1_000_000}],
    ids=["many", "long"],
)
def test_the_settings_of_a_forged_configuration_are_shown_in_part(table, arguments):
    events = inspection(Config(0, arguments, {})), Specialized("k", 1, "triton", (), {}, "")
    for response in table(*events, config=0):
        assert response.status_code == 200
        assert len(response.data) < 100_000


@pytest.mark.parametrize("index", [-1, 10_000_000])
def test_a_forged_index_of_a_configuration_is_refused(index):
    with pytest.raises(InvalidRequest, match="invalid indices"):
        configurations_of(
            Request("", "cuda:90", "3.9.0"), inspection(Config(0, {}, {}), Config(index, {}, {}))
        )


@pytest.mark.parametrize(
    "options",
    [{f"o{number}": 1 for number in range(101)}, {"o" * 201: 1}, {"o": "x" * 10_001}],
    ids=["many", "long name", "long value"],
)
def test_a_configuration_sets_no_more_than_a_compilation(client, options):
    body = {
        "compilation": {"source": "x = 1", "target": "cuda:90"},
        "configurations": [{"options": options}],
    }
    assert client.post("/api/v1/matrices", json=body).status_code == 400
