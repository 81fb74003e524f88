"""Runs that are pushed from other machines: anybody can send them, and nobody can compute them again."""

import uuid

import msgspec
import pytest
from recorded import documents

from explorer.matrix.times import cell_time
from explorer.model import Done, Measurement, Request, Run, Stage, encode_event
from explorer.sandbox.protocol import decode_event
from explorer.store.entry_writer import EntryWriter

URL = "/api/v1/runs/imported"


def measured(name):
    return Measurement(name, msgspec.json.encode(documents()[name]).decode())


@pytest.fixture
def store_result(services):
    """Store a complete result; return its record."""

    def put(request, *events):
        batch = services.store.batch()
        writer = EntryWriter(batch)
        record = services.store.submit(request)
        checked = [decode_event(encode_event(event)) for event in (*events, Done("complete", 1.0))]
        services.store.finish(record.id, [writer.write(event) for event in checked], batch)
        return services.store.find(record.id)

    return put


@pytest.fixture
def compilation(store_result):
    source = f"# {uuid.uuid4()}"
    return store_result(
        Request(source, "cuda:90", "3.9.0"), Stage("ttir", "TTIR", "ttir", 1.0, "module {\n}\n")
    )


def run_of(compilation, **fields):
    asked = compilation.request
    return Request(asked.source, asked.target, asked.triton, task="run", run=Run("gpu"), **fields)


def test_bytes_that_are_no_text_are_refused(client, compilation):
    body = b'{"compilation":"%s","run":{"device":"gpu"},"measurements":{"timings":"\xff"}}'
    response = client.post(URL, data=body % compilation.id.encode(), content_type="application/json")
    assert (response.status_code, response.get_json()["kind"]) == (400, "invalid_request")


def test_no_number_of_them_hides_a_run_of_this_machine(client, services, store_result, compilation):
    own = store_result(run_of(compilation), measured("environment"), measured("timings"))
    for number in range(60):
        store_result(run_of(compilation, imported=f"{number:064}"), measured("timings"))
    listed = client.get(f"/api/v1/compilations/{compilation.id}/runs").get_json()
    assert [row["id"] for row in listed["runs"]] == [own.id]
    assert (len(listed["imported"]), listed["left_out"]) == (50, "")
    assert cell_time(services.store, services.profiles, compilation).run == own.id


def test_they_are_no_measured_time_of_a_matrix(services, store_result, compilation):
    store_result(run_of(compilation, imported="0" * 64), measured("environment"), measured("timings"))
    assert cell_time(services.store, services.profiles, compilation) is None


def test_lost_measurements_are_not_replaced_by_a_run_here(client, services, compilation):
    environment = msgspec.to_builtins(documents()["environment"])
    body = {
        "compilation": compilation.id,
        "run": {"device": "interpreter"},
        "measurements": {"environment": environment},
    }
    ticket = client.post(URL, json=body).get_json()
    record = services.store.find(ticket["id"])
    services.store._records._forget(record.id, record.journal)
    for address in (ticket["api"], ticket["events"]):
        response = client.get(address)
        assert response.status_code == 404
        assert "push them again" in response.get_json()["detail"]
    assert client.get(f"/api/v1/compilations/{compilation.id}/runs").get_json()["imported"] == []
    assert client.post(URL, json=body).get_json() == ticket
    assert client.get(ticket["api"]).get_json()["status"] == "complete"
