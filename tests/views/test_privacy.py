"""Test private results: nobody who does not know their address learns of them."""

import pytest
from api import settled
from flask import request, request_finished

from explorer.views.http import IS_KEPT

SOURCE = """import torch
import triton
import triton.language as tl


@triton.jit
def secret_kernel(x_ptr, VALUE: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, 128), VALUE)


secret_kernel[(1,)](torch.empty(128, device="cuda"), VALUE=1)
"""
BODY = {"source": SOURCE, "target": "cuda:90"}
KEY = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def submit(app):
    client = app.test_client()

    def submit(path="/api/v1/compilations", **fields):
        body = fields if path != "/api/v1/compilations" else {**BODY, **fields}
        response = client.post(path, json=body)
        assert response.status_code < 300, response.get_json()
        ticket = response.get_json()
        if "events" in ticket:
            client.get(ticket["events"]).get_data()
        return ticket["id"]

    return submit


@pytest.fixture(scope="module")
def private(submit):
    return submit(private=True)


def test_nobody_can_guess_the_address(submit, private):
    public = submit()
    again = submit(private=True)
    assert len({public, private, again}) == 3
    assert (len(public), len(private), len(again)) == (12, 24, 24)  # 24 digits of base 58 are 140 bits
    assert not private.startswith(public)
    assert private[:12] != again[:12]


@pytest.mark.both_forms
def test_equal_requests_are_joined_only_by_the_key(submit):
    assert submit(private=KEY) == submit(private=KEY)
    assert submit(private=KEY) != submit(private=KEY[::-1])


@pytest.mark.parametrize("key", ["short", "x" * 32, "A" * 32, 1])
def test_a_key_that_could_be_guessed_is_refused(client, key):
    assert client.post("/api/v1/compilations", json={**BODY, "private": key}).status_code == 400


def test_nobody_keeps_or_lists_it(client, private):
    api = f"/api/v1/compilations/{private}"
    pages = (f"/k/{private}", f"/embed/{private}")
    parts = (api, f"{api}/source", f"{api}/stages/ttir", f"{api}/archive.zip", f"{api}/runs")
    for path in (*pages, *parts, f"{api}x", f"{api}/compare/{private}"):
        response = client.get(path)
        assert response.headers["Referrer-Policy"] == "no-referrer", path
        assert response.headers["X-Robots-Tag"] == "noindex", path
        control = response.cache_control
        assert control.no_store or (control.private and control.no_cache and not control.public), path
    compared = client.get(f"/compare/{private}..{private}")
    assert compared.headers["X-Robots-Tag"] == "noindex"


def test_its_link_has_no_preview(client, private):
    for path in (f"/k/{private}", f"/compare/{private}..{private}"):
        page = client.get(path)
        assert page.status_code == 200
        assert "secret_kernel" not in page.get_data(as_text=True)
        assert "og:" not in page.get_data(as_text=True)
    assert client.get(f"/k/{private}/card.png").status_code == 404


def test_the_server_does_not_send_it_again_by_itself(app, client, submit, private):
    kept = []

    def note(_app, **_):
        kept.append(IS_KEPT in request.environ)

    with request_finished.connected_to(note, app):
        for result in (submit(), private):
            for path in (f"/api/v1/compilations/{result}", f"/api/v1/compilations/{result}/source"):
                client.get(path)
    assert kept[-4:] == [True, True, False, False]


@pytest.mark.both_forms
def test_what_is_made_of_it_is_private(client, submit, private):
    index = client.get(f"/api/v1/compilations/{private}").get_json()
    key = index["request"]["private"]
    run = {"device": "interpreter", "measures": ["counts"]}
    run_id = submit("/api/v1/runs", compilation=private, run=run)
    passes = submit(f"/api/v1/compilations/{private}/llvm-passes")
    edited = submit(private=key, edits={"without_passes": ["canonicalize"]})
    session = submit("/api/v1/sessions", title="A secret", kernels=[{"compilation": private}])
    matrix = submit("/api/v1/matrices", compilation={**BODY, "private": key}, targets=["cuda:80"])
    document = settled(client, f"/api/v1/matrices/{matrix}")
    cells = [cell["id"] for cell in document["cells"]]
    assert [len(each) for each in (run_id, passes, edited, session, matrix, *cells)] == [24] * 6
    assert "A secret" not in client.get(f"/s/{session}").get_data(as_text=True)
    assert "og:" not in client.get(f"/m/{matrix}").get_data(as_text=True)


def test_a_public_compilation_does_not_list_its_runs(client, submit, private):
    run = {"device": "interpreter", "measures": ["counts"]}
    submit("/api/v1/runs", compilation=private, run=run)
    public = submit()
    assert client.get(f"/api/v1/compilations/{public}/runs").get_json()["runs"] == []
    assert len(client.get(f"/api/v1/compilations/{private}/runs").get_json()["runs"]) == 1
