"""Test that the OpenAPI document has every route and matches real responses."""

import re
from typing import Any

import msgspec
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from explorer.documents import Problem
from explorer.model.measurements import MEASUREMENTS
from explorer.services import services_of
from explorer.store.deletion_rights import new_token
from explorer.tours import load_tours
from explorer.views.operation import operation_of
from explorer.views.tours import request_of


@pytest.fixture(scope="module")
def document(app):
    return app.test_client().get("/api/v1/openapi.json").get_json()


def test_the_description_is_valid(document):
    OpenAPIV31SpecValidator(document).validate()


def test_every_route_is_described_and_nothing_else(app, document):
    routes = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    described = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert described == routes


def test_every_operation_is_explained(document):
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"].endswith(".")


def test_answers_are_what_the_description_says(app, client, ticket, index, vector_add):
    """Call each operation once and decode the response strictly into its declared type."""
    of_ticket = {"compilation_id": ticket["id"], "other_id": ticket["id"], "name": "ttgir", "index": 1}
    of_ticket |= {"vocabulary": "passes", "tour": "programs", "step": 1}
    of_gallery = {"name": "matmul"}
    of_run = {"run_id": "recorded-vector_add-0", "name": "trace.json"}
    others = {
        "meta.show_example": of_gallery,
        **{f"tours.{view}": {"name": "programs"} for view in ("show", "results", "html")},
        "exercises.show": {"name": "one_warp"},
        "runs.measurement": {**of_run, "name": "timings"},
        "runs.file": of_run,
    }
    session = {"title": "program", "kernels": [{"compilation": ticket["id"]}]}
    matrix = {"compilation": {"source": vector_add, "target": "cuda:90"}}
    bodies = {
        "compilations.submit": {"source": vector_add, "target": "cuda:90"},
        "inspect.inspect": {"source": vector_add},
        "runs.submit": {"compilation": ticket["id"], "run": {"device": "interpreter"}},
        "runs.submit_imported": {
            "compilation": ticket["id"],
            "run": {"device": "interpreter"},
            "measurements": {"check": {"reason": "", "reference": "", "outputs": []}},
        },
        "captures.submit": {
            "source": vector_add,
            "target": "cuda:90",
            "triton": "3.9.0",
            "kernel": "add",
            "stages": {},
        },
        "captures.submit_session": session,
        "matrices.submit": matrix,
        "trials.submit_changed": {"options": {"num_warps": 8}},
    }
    others["captures.show_session"] = {
        "session_id": client.post("/api/v1/sessions", json=session).get_json()["id"]
    }
    own = {"headers": {"Deletion-Token": new_token()}}
    body = {"source": "x = 1  # to be deleted", "target": "cuda:90"}
    deleted = client.post("/api/v1/compilations", json=body, **own).get_json()
    client.get(deleted["events"]).get_data()
    others["results.delete"] = {"result_id": deleted["id"]}
    of_matrix = {"matrix_id": client.post("/api/v1/matrices", json=matrix).get_json()["id"]}
    services = services_of(app)
    for step in load_tours()[0].steps:
        services.queue.complete(request_of(step.launch, services.triton_version(None)))
    client.post(f"/api/v1/compilations/{ticket['id']}/fewer_stages")  # GET returns the cached answer
    checked = set()
    adapter = app.url_map.bind("localhost")
    for rule in app.url_map.iter_rules():
        if not rule.rule.startswith("/api/"):
            continue
        values = others.get(rule.endpoint, {**of_ticket, **of_run, **of_matrix, "name": of_ticket["name"]})
        url = adapter.build(rule.endpoint, {name: values[name] for name in rule.arguments})
        if rule.endpoint == "stages.search":
            url += "?text=tt.load"
        if rule.endpoint in ("queries.heat", "queries.roofline"):
            url += f"?compilation={ticket['id']}"
        (method,) = rule.methods - {"HEAD", "OPTIONS"}
        sent: dict[str, Any] = {"json": bodies.get(rule.endpoint)}
        if rule.endpoint == "captures.submit_import":
            url += "?name=trace.ndjson"
            sent = {"data": b"{}", "content_type": "application/octet-stream"}
        response = client.open(url, method=method, **sent, **own)
        answers = operation_of(app.view_functions[rule.endpoint]).answers
        assert response.status_code in answers, url
        answer = answers[response.status_code]
        if answer is None:
            assert response.data == b""
        elif isinstance(answer, str):
            assert response.mimetype == answer
        elif isinstance(answer, tuple):
            decoded = msgspec.json.decode(response.data, type=MEASUREMENTS[values["name"]].document)
            assert type(decoded) in answer
        else:
            decoded = msgspec.json.decode(response.data, type=answer)
            assert msgspec.json.encode(decoded) == response.data, "unknown fields"
        checked.add(rule.endpoint)
    assert len(checked) >= 16


@pytest.mark.parametrize("path", ["/api/nothing", "/api/v1/compilations/nothing"])
def test_errors_are_what_the_description_says(client, path):
    msgspec.json.decode(client.get(path).data, type=Problem)
