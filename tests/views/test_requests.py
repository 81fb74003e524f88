"""Test that bad input is refused with a message that says what to do."""

import pytest

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings

URL = "/api/v1/compilations"


def refused(response, status, kind):
    document = response.get_json()
    assert (response.status_code, document["kind"]) == (status, kind)
    assert response.mimetype == "application/json"
    return document["detail"]


def test_an_unknown_target_is_answered_with_the_list(api):
    detail = refused(api.submit("x", target="cuda:1"), 400, "unknown_target")
    assert "cuda:90" in detail
    assert "hip:gfx942" in detail


def test_an_unknown_triton_is_answered_with_the_list(api, services):
    detail = refused(api.submit("x", triton="1.0"), 400, "unknown_triton")
    assert services.versions[0] in detail


def test_an_architecture_is_a_name_of_its_target(api, vector_add, ticket):
    assert api.submit(vector_add, target="sm_90").get_json()["id"] == ticket["id"]


@pytest.mark.parametrize("megabytes", [1.01, 10, 40])
def test_a_source_that_is_too_long_is_refused(api, megabytes):
    detail = refused(api.submit("#" * int(megabytes * 1024 * 1024)), 413, "source_too_large")
    assert "1,048,576" in detail
    assert "Give only the kernel" in detail


def test_the_limit_counts_bytes_of_the_source_not_of_the_request(api):
    source = "#" + "\u0001" * 1_000_000
    assert api.submit(source, target="cuda:1").status_code == 400


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"kernal": "k"}, "kernal"),
        ({"launch": "0"}, "$.launch"),
        ({"launch": -1}, "$.launch"),
        ({"launch": True}, "$.launch"),
        ({"config": 1.5}, "$.config"),
        ({"arguments": 3}, "$.arguments"),
        ({"arguments": [{"name": "x"}]}, "type"),
        ({"arguments": [{"name": "x", "type": "i32", "specialization": "big"}]}, "specialization"),
        ({"options": {"num_warps": [4]}}, "$.options"),
        ({"launch": 0, "arguments": "i32"}, "exclude each other"),
        ({"source": " \n"}, "empty"),
        ({"source": None}, "$.source"),
    ],
)
def test_a_wrong_field_is_named(client, fields, part):
    body = {"source": "x", "target": "cuda:90", **fields}
    assert part in refused(client.post(URL, json=body), 400, "invalid_request")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"null",
        b'{"source": "x"}',
        b'{"source": "x", "target": "cuda:90", "options": {"a": NaN}}',
        b'{"source": "\xff", "target": "cuda:90"}',
        b'{"source": "\\ud800", "target": "cuda:90"}',
        b'{"source": "x", "target": "cuda:90", "options": ' + b'{"a":' * 100_000,
    ],
)
def test_what_is_no_request_is_refused(client, data):
    refused(client.post(URL, data=data, content_type="application/json"), 400, "invalid_request")


@pytest.mark.parametrize(
    "path",
    ["../up.py", "/etc/passwd.py", "a//b.py", "a/../b.py", ".hidden.py", "a.txt", "a\n.py", "", "a\\b.py"],
)
def test_a_path_that_is_no_file_below_a_folder_is_refused(client, path):
    body = {"source": "x", "target": "cuda:90", "files": {path: "x = 1"}}
    detail = refused(client.post(URL, json=body), 400, "invalid_request")
    assert "is not the path of a Python file" in detail


def test_files_count_for_the_limit(client):
    body = {"source": "x", "target": "cuda:90", "files": {"a.py": "#" * 600_000, "b.py": "#" * 600_000}}
    detail = refused(client.post(URL, json=body), 413, "source_too_large")
    assert "1,200,001 bytes" in detail


@pytest.mark.parametrize(
    "assumed",
    [{"x": 1}, {"0": 1}, {"a.py:": 1}, {"3": 1.5}, {"3": 2**63}, {str(n): 1 for n in range(1, 102)}],
)
def test_numbers_to_assume_that_are_none_are_refused(client, assumed):
    body = {"source": "x", "target": "cuda:90", "assumed": assumed}
    refused(client.post(URL, json=body), 400, "invalid_request")


def test_script_arguments_without_a_closing_quotation_are_refused(client):
    body = {"source": "x", "target": "cuda:90", "script_arguments": "--name 'two words"}
    answer = client.post(URL, json=body)
    refused(answer, 400, "invalid_request")
    assert "No closing quotation" in answer.get_data(as_text=True)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_forms_of_other_sites_are_refused(client, content_type):
    """A browser sends these across sites without asking."""
    body = '{"source": "x", "target": "cuda:90"}'
    refused(client.post(URL, data=body, content_type=content_type), 415, "unsupported_media_type")


@pytest.mark.slow
def test_a_full_queue_says_when_to_come_back(tmp_path):
    app = create_app(Settings(data_dir=tmp_path, queue_limit=0))
    try:
        response = app.test_client().post(URL, json={"source": "x", "target": "cuda:90"})
    finally:
        services_of(app).close()
    refused(response, 503, "queue_full")
    assert int(response.headers["Retry-After"]) > 0


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        ({"stage": "ttir"}, "'edits' needs both 'stage' and its 'text'"),
        ({"text": "module {}"}, "'edits' needs both 'stage' and its 'text'"),
        ({"without_passes": [""]}, "$.edits.without_passes"),
        ({"pass_options": {"cse": 1}}, "$.edits.pass_options"),
        ({"passes": []}, "unknown field `passes`"),
        ({"stage": "ttir", "text": "x" * 2**20}, "limit is"),
    ],
)
def test_changes_that_are_none_are_refused(client, edits, message):
    body = {"source": "x", "target": "cuda:90", "edits": edits}
    response = client.post("/api/v1/compilations", json=body)
    assert response.status_code in (400, 413, 422)
    assert message in response.get_json()["detail"]
