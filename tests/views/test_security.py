import re

import pytest


@pytest.mark.parametrize("path", ["/api/v1/targets", "/healthz", "/metrics", "/nothing", "/api/v1/nothing"])
def test_every_answer_is_guarded(client, path):
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "Set-Cookie" not in headers


def test_a_page_has_a_new_nonce_each_time(client):
    pages = [client.get("/nothing") for _ in range(2)]
    policies = [page.headers["Content-Security-Policy"] for page in pages]
    nonces = [re.search(r"style-src 'self' 'nonce-([\w-]+)'", policy)[1] for policy in policies]
    assert nonces[0] != nonces[1]
    assert f'nonce="{nonces[0]}"' in pages[0].get_data(as_text=True)


def test_texts_of_users_are_plain_text(api, client):
    source = "<script>alert(1)</script>"
    ticket = api.compile(source)
    response = client.get(ticket["api"] + "/source")
    assert response.get_data(as_text=True) == source
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_a_foreign_name_for_this_machine_is_refused(client):
    """Otherwise any web site could reach a loopback server through its own DNS name."""
    assert client.get("/api/v1/targets", headers={"Host": "evil.example"}).status_code == 400
    assert client.get("/api/v1/targets", headers={"Host": "127.0.0.1:8000"}).status_code == 200


def test_only_what_is_made_for_frames_is_shown_in_them(client, ticket):
    policies = {
        path: client.get(path).headers["Content-Security-Policy"]
        for path in ("/", ticket["url"], f"/embed/{ticket['id']}", "/embed/7Qm2xV9dKcAB", ticket["api"])
    }
    parts = {path: dict(part.split(" ", 1) for part in policies[path].split("; ")) for path in policies}
    ancestors = [directives.pop("frame-ancestors") for directives in parts.values()]
    assert ancestors == ["'self'", "'self'", "*", "*", "'self'"]
    for directives in parts.values():
        directives["style-src"] = re.sub(r"nonce-[\w-]+", "nonce", directives["style-src"])
    assert parts[f"/embed/{ticket['id']}"] == parts[ticket["url"]]


def test_webassembly_is_for_the_worker_that_lays_out_graphs_alone(client):
    parts = client.get("/page.json").json
    addresses = ["/", *(pane["module"] for pane in parts["panes"]), *parts["workers"].values()]
    rights = {}
    for address in addresses:
        with client.get(address) as response:
            policy = response.headers["Content-Security-Policy"]
        rights[address] = re.search(r"script-src ([^;]*)", policy)[1]
    assert {address for address, right in rights.items() if "wasm" in right} == {
        parts["workers"]["graph_layout"]
    }
    assert rights[parts["workers"]["graph_layout"]] == "'self' 'wasm-unsafe-eval'"
    assert set(rights.values()) == {"'self'", "'self' 'wasm-unsafe-eval'"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:9000"},
        {"Origin": "http://localhost:9000"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_sites_start_nothing(client, ticket, headers):
    """A form needs no body and no question asked before."""
    url = ticket["api"] + "/llvm-passes"
    for send in (client.post, client.put, client.patch, client.delete):
        refused = send(url, data={"a": "b"}, headers=headers)
        assert (refused.status_code, refused.get_json()["kind"]) == (400, "invalid_request")
        assert "another site" in refused.get_json()["detail"]
    assert client.get(ticket["api"], headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin", "Origin": "https://a-proxy.example"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
        {"Origin": "https://LOCALHOST", "Host": "localhost"},
        {"Origin": "http://localhost", "Host": "localhost:80"},
    ],
)
def test_the_page_and_programs_may_send(client, headers):
    answer = client.post("/api/v1/inspect", data="no JSON", headers=headers)
    assert (answer.status_code, answer.get_json()["kind"]) == (415, "unsupported_media_type")


def test_the_case_of_a_host_name_means_nothing(client):
    assert client.get("/api/v1/targets", headers={"Host": "LOCALHOST:8000"}).status_code == 200
