"""Test matrices over the API: their cells, metrics, tables, cancellation and limits."""

import csv
import io
import time

import pytest
from api import settled

from explorer.model.limits import MOST_CELLS

#: A kernel with two configurations, one of which fails.
SOURCE = """
import torch
import triton
import triton.language as tl


@triton.autotune(
    [triton.Config({"BLOCK": 128}, num_warps=1), triton.Config({"BLOCK": 100}, num_warps=1)], key=["n"]
)
@triton.jit
def double(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, 2 * tl.load(x + offsets, offsets < n), offsets < n)


x = torch.ones(1000, device="cuda")
double[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, 1000)
"""
URL = "/api/v1/matrices"


@pytest.fixture(scope="module")
def matrix(app):
    """Return the document of a matrix of two configurations for two targets."""
    client = app.test_client()
    body = {
        "compilation": {"source": SOURCE, "target": "cuda:90"},
        "configurations": "all",
        "targets": ["sm_90", "cuda:80", "cuda:90"],
    }
    response = client.post(URL, json=body)
    assert response.status_code == 202
    assert response.get_json()["cells"] == 4  # sm_90 is cuda:90
    return settled(client, response.get_json()["api"])


@pytest.mark.both_forms
def test_each_cell_is_an_ordinary_compilation_with_its_metrics(client, matrix):
    assert [(cell["configuration"], cell["target"]) for cell in matrix["cells"]] == [
        (0, "cuda:90"), (0, "cuda:80"), (1, "cuda:90"), (1, "cuda:80"),
    ]  # fmt: skip
    assert [each["title"] for each in matrix["configurations"]] == ["BLOCK=128", "BLOCK=100"]
    for cell in matrix["cells"][:2]:
        index = client.get(f"/api/v1/compilations/{cell['id']}").get_json()
        assert (cell["state"], index["request"]["config"], index["target"]["name"]) == (
            "complete",
            0,
            cell["target"],
        )
        assert cell["metrics"] == client.get(f"/api/v1/compilations/{cell['id']}/metrics").get_json()
        assert cell["metrics"]["registers"] == index["resources"]["registers"]
        assert cell["metrics"]["instructions"] > 10
    for cell in matrix["cells"][2:]:
        assert (cell["state"], cell["metrics"]) == ("failed", None)
        assert "power of 2" in cell["message"]


def test_the_same_matrix_is_stored_once_and_compiled_once(client, matrix):
    body = {
        "compilation": {"source": SOURCE, "target": "cuda:80"},
        "configurations": [{"config": 0}],
        "targets": ["cuda:90"],
    }
    tickets = [client.post(URL, json=body).get_json() for _ in range(2)]
    assert tickets[0] == tickets[1]
    again = settled(client, tickets[0]["api"])
    assert again["cells"][0]["id"] == matrix["cells"][0]["id"]


def test_the_tables_have_a_row_for_each_cell(client, matrix):
    rows = list(csv.DictReader(io.StringIO(client.get(f"{matrix['api']}/table.csv").text)))
    assert [row["BLOCK"] for row in rows] == ["128", "128", "100", "100"]
    assert int(rows[1]["registers"]) == matrix["cells"][1]["metrics"]["registers"]
    assert (rows[2]["state"], rows[2]["registers"]) == ("failed", "")
    table = client.get(f"{matrix['api']}/table.md?links=1").text.splitlines()
    assert len(table) == 2 + 4
    assert table[2].startswith(
        f"| [BLOCK=128](http://localhost/k/{matrix['cells'][0]['id']}) | cuda:90 | 3.9.0 |"
    )
    assert "failed: " in table[4]
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1


def test_options_and_constants_are_configurations(client):
    arguments = [
        {"name": "x", "type": "*fp32", "specialization": "divisible by 16"},
        {"name": "n", "type": "i32"},
        {"name": "BLOCK", "type": "constexpr", "value": 64, "specialization": "constexpr"},
    ]
    body = {
        "compilation": {"source": SOURCE, "target": "cuda:90", "arguments": arguments},
        "configurations": [{"options": {"num_warps": 2}, "constants": {"BLOCK": 256}}],
    }
    document = settled(client, client.post(URL, json=body).get_json()["api"])
    index = client.get(f"/api/v1/compilations/{document['cells'][0]['id']}").get_json()
    assert index["status"] == "complete", index["diagnostics"]
    assert index["specialization"]["options"]["num_warps"] == 2
    assert index["request"]["arguments"][2]["value"] == 256
    body["configurations"] = [{"constants": {"n": 3}}]
    response = client.post(URL, json=body)
    assert response.status_code == 400
    assert "'n' is no constexpr" in response.get_json()["detail"]


@pytest.mark.both_forms
def test_a_canceled_matrix_says_so_and_can_go_on(client, app, endless):
    body = {
        "compilation": {"source": f"{endless}# of a matrix\n", "target": "cuda:90"},
        "targets": ["cuda:80", "cuda:90", "cuda:100"],
    }
    ticket = client.post(f"{URL}?follower=one", json=body).get_json()
    client.post(f"{ticket['api']}?follower=two")
    answer = client.delete(f"{ticket['api']}?follower=one")
    assert (answer.status_code, answer.get_json()) == (202, {"followers": 1})
    assert client.delete(f"{ticket['api']}?follower=two").status_code == 204
    document = settled(client, ticket["api"])
    while {cell["state"] for cell in document["cells"]} != {"missing"}:  # a job ends a moment later
        document = client.get(ticket["api"]).get_json()
    assert client.post(ticket["api"]).status_code == 202
    assert client.get(ticket["api"]).get_json()["is_at_work"]
    assert client.delete(ticket["api"]).status_code == 204


def test_a_page_that_asks_for_a_matrix_no_more_has_left_it(client, endless, monkeypatch):
    body = {"compilation": {"source": f"{endless}# of a closed page\n", "target": "cuda:90"}}
    address = client.post(f"{URL}?follower=page", json=body).get_json()["api"]

    def canceled_after(seconds):
        monkeypatch.setattr("explorer.matrix.compiler.FOLLOWING_SECONDS", seconds)
        return client.delete(f"{address}?follower=other").status_code

    submitted = time.monotonic()
    time.sleep(2)
    client.get(f"{address}?follower=page")
    assert canceled_after(time.monotonic() - submitted) == 202
    client.get(f"{address}?follower=other")
    assert canceled_after(0) == 204
    assert not client.get(address).get_json()["is_at_work"]


def test_hostile_requests_are_refused_with_the_limit(client, ticket, matrix):
    base = {"source": SOURCE, "target": "cuda:90"}
    many = [{"config": index} for index in range(MOST_CELLS)]
    body = {"compilation": base, "configurations": many, "targets": ["cuda:80", "cuda:90"]}
    response = client.post(URL, json=body)
    assert response.status_code == 400
    assert f"at most {MOST_CELLS}" in response.get_json()["detail"]
    assert "1,000 compilations" in response.get_json()["detail"]
    for wrong in (
        {"targets": ["cuda:1"]},
        {"tritons": ["1.0"]},
        {"configurations": "some"},
        {"configurations": [{"config": -1}]},
        {"compilation": {**base, "kernel": "other"}, "configurations": "all"},
        {"compilation": {**base, "source": " "}},
    ):
        assert client.post(URL, json={"compilation": base, **wrong}).status_code == 400, wrong
    assert client.get(f"{URL}/{ticket['id']}").status_code == 404
    assert client.get(f"/m/{ticket['id']}").status_code == 404
    assert matrix["url"] in client.get(f"/api/v1/compilations/{matrix['id']}").get_json()["detail"]
    assert client.get(matrix["url"]).status_code == 200
