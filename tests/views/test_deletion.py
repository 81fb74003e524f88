"""Test the deletion of results by their submitters, over the API."""

import pytest
from record_version import SOURCE

from explorer.store.deletion_rights import new_token

URL = "/api/v1/results"


@pytest.fixture
def submit(client, app):
    """Compile a source that sets a value, with a token or without. Return the ticket's document and token."""

    def submit(value, token=None, address="127.0.0.1", path="/api/v1/compilations", **fields):
        headers = {"Deletion-Token": token} if token else {}
        body = fields or {"source": SOURCE.replace("{value}", str(value)), "target": "cuda:90"}
        response = client.post(path, json=body, headers=headers, environ_base={"REMOTE_ADDR": address})
        assert response.status_code < 300, response.get_json()
        ticket = response.get_json()
        if "events" in ticket:
            client.get(ticket["events"]).get_data()
        return ticket["id"], response.headers.get("Deletion-Token")

    return submit


@pytest.fixture
def delete(client):
    def delete(result_id, token=None):
        headers = {"Deletion-Token": token} if token else {}
        return client.delete(f"{URL}/{result_id}", headers=headers)

    return delete


@pytest.mark.both_forms
def test_the_token_of_a_new_submission_deletes_it_with_its_runs_and_answers(client, submit, delete):
    compilation, token = submit(1)
    assert token is not None
    assert token not in client.get(f"/api/v1/compilations/{compilation}").get_data(as_text=True)
    client.get(f"/api/v1/compilations/{compilation}/layouts")
    fields = {"compilation": compilation, "run": {"device": "interpreter", "measures": ["counts"]}}
    run, _ = submit(None, token, path="/api/v1/runs", **fields)
    assert client.get(f"/api/v1/compilations/{compilation}/lineage?pass=3&line=5").status_code == 200
    removed = delete(compilation, token)
    assert removed.status_code == 200
    assert {compilation, run} <= set(removed.get_json()["removed"])
    for path in (
        f"compilations/{compilation}",
        f"compilations/{compilation}/lineage?pass=3&line=5",
        f"runs/{run}",
    ):
        assert client.get(f"/api/v1/{path}").status_code == 404
    page = client.get(f"/k/{compilation}")
    assert page.status_code == 404
    assert "fill" not in page.get_data(as_text=True)
    assert delete(compilation, token).status_code == 404


def test_another_token_deletes_nothing(client, submit, delete):
    compilation, _ = submit(2)
    for token in (new_token(), None, "short", "x" * 201):
        answer = delete(compilation, token)
        assert answer.status_code == (403 if token and len(token) == 32 else 400)
        assert "Deletion-Token" in answer.get_json()["detail"]
    assert client.get(f"/api/v1/compilations/{compilation}").status_code == 200


def test_a_second_submission_gets_no_token_and_keeps_the_result(client, submit, delete):
    compilation, token = submit(3)
    again, other = submit(3, address="192.0.2.1")
    assert (again, other) == (compilation, None)
    assert delete(compilation, token).get_json() == {"removed": [], "kept": [compilation]}
    assert client.get(f"/api/v1/compilations/{compilation}").status_code == 200


@pytest.mark.both_forms
def test_everybody_who_submits_with_an_own_token_has_to_delete(client, submit, delete):
    anna, bert = new_token(), new_token()
    compilation, given = submit(4, anna)
    assert given is None, "a token that the client knows is sent back"
    submit(4, bert)
    assert delete(compilation, anna).get_json()["kept"] == [compilation]
    assert delete(compilation, bert).get_json()["removed"] == [compilation]


def test_a_matrix_is_deleted_with_its_cells(client, submit, delete):
    token = new_token()
    source = SOURCE.replace("{value}", "5")
    matrix, _ = submit(
        None,
        token,
        path="/api/v1/matrices",
        compilation={"source": source, "target": "cuda:90"},
        targets=["cuda:90", "cuda:80"],
    )
    while (document := client.get(f"/api/v1/matrices/{matrix}").get_json())["is_at_work"]:
        pass
    cells = [cell["id"] for cell in document["cells"]]
    deleted = delete(matrix, token).get_json()
    assert deleted == {"removed": sorted([matrix, *cells]), "kept": []}
    assert client.get(f"/api/v1/compilations/{cells[0]}").status_code == 404


@pytest.mark.both_forms
def test_a_session_is_deleted_with_its_kernels(client, submit, delete):
    token = new_token()
    kernel, _ = submit(6, token)
    session, _ = submit(
        None, token, path="/api/v1/sessions", title="Of Anna", kernels=[{"compilation": kernel}]
    )
    assert set(delete(session, token).get_json()["removed"]) == {kernel, session}
