"""The one file with everything: what is in it, and what may run in it."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from hashlib import sha256

import pytest

from explorer.analyses import ANALYSES


@pytest.fixture(scope="session")
def document(app, ticket):
    response = app.test_client().get(ticket["api"] + "/export.html")
    assert response.status_code == 200
    return response.get_data(as_text=True)


def test_it_is_saved_never_shown_on_this_site(client, ticket):
    response = client.get(ticket["api"] + "/export.html")
    assert response.headers["Content-Disposition"] == f"attachment; filename=add_kernel-{ticket['id']}.html"
    assert "script-src 'self';" in response.headers["Content-Security-Policy"]
    assert response.cache_control.immutable


def test_its_policy_lets_its_own_scripts_run_and_nothing_else(document):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]+)"', document)[1])
    scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert len(scripts) == 2
    assert f"script-src {hashes};" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r'(?:src|href)="(?!data:|#)', document.partition("<script type=")[0])


def test_its_answers_are_those_of_the_api(client, document, ticket, index):
    numbers, problems = json.loads(re.search(r'id="recording">(.*?)</script>', document)[1])
    packed = dict(re.findall(r'type="application/gzip" id="answer-(\d+)">([\w+/=]*)</script>', document))
    assert sorted(packed, key=int) == [str(number) for number in range(len(packed))]
    answers = {path: gzip.decompress(base64.b64decode(packed[str(n)])) for path, n in numbers.items()}
    urls = [row["url"] for row in index["stages"] + index["passes"]]
    assert set(urls) <= set(answers)
    assert {f"{ticket['api']}/{each.name}" for each in ANALYSES if each.is_saved} <= set(answers)
    differing = [
        path
        for path, body in answers.items()
        if path not in ("/page.json", "/api/v1/gallery", "/api/v1/tritons") and client.get(path).data != body
    ]
    assert differing == []
    assert problems == {}


def test_what_cannot_be_said_of_a_result_is_said_in_its_file(client, api):
    """A kernel that has failed has no binary, so that nothing is known of its live registers."""
    ticket = api.compile("def broken(:\n    pass\n")
    document = client.get(ticket["api"] + "/export.html").get_data(as_text=True)
    _, problems = json.loads(re.search(r'id="recording">(.*?)</script>', document)[1])
    assert (
        problems[f"{ticket['api']}/registers"] == client.get(f"{ticket['api']}/registers").status_code == 422
    )


def test_the_same_result_is_the_same_file(client, ticket, document):
    again = client.get(ticket["api"] + "/export.html")
    assert again.get_data(as_text=True) == document


def test_a_compilation_under_way_has_no_file_yet(client, api, endless):
    ticket = api.submit(endless).get_json()
    response = client.get(ticket["api"] + "/export.html")
    client.delete(ticket["api"])
    assert (response.status_code, response.get_json()["kind"]) == (409, "not_finished")
