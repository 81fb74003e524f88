"""Test the trials of a compilation: its changes as a matrix that is found again, and single changes."""

import time

import pytest
from api import Api
from sources import SUMS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sums(app):
    return Api(app.test_client()).compile(SUMS)


def test_the_trials_of_a_compilation_are_found_without_starting_them(client, sums):
    assert client.get(f"{sums['api']}/trials").status_code == 204
    ticket = client.post(f"{sums['api']}/trials").get_json()
    while (document := client.get(f"{sums['api']}/trials").get_json())["is_at_work"]:
        time.sleep(0.05)
    assert document["id"] == ticket["id"]
    findings = client.get(f"{sums['api']}/findings").get_json()["findings"]
    changes = [change for finding in findings for change in finding["changes"]]
    assert len(document["cells"]) == len(changes) == ticket["cells"]
    sources = [client.get(f"/api/v1/compilations/{each['id']}/source").text for each in document["cells"]]
    assert [source.splitlines()[7] for source in sources] == [
        change["edits"][0]["text"] for change in changes
    ]


def test_a_single_change_is_compiled_also_of_a_signature(client, api):
    source = SUMS[: SUMS.index("x = torch.empty")]
    ticket = api.compile(source, arguments="*fp32:16, *fp32:16, i32:16, 1024")
    made = client.post(f"{ticket['api']}/changed", json={"constants": {"BLOCK": 512}, "options": {}})
    assert made.status_code == 202
    api.events(made.get_json()["events"])
    changed = client.get(made.get_json()["api"]).get_json()
    assert changed["status"] == "complete"
    assert changed["specialization"]["arguments"][-1]["value"] == 512
    refused = client.post(f"{ticket['api']}/changed", json={"constants": {"N": 512}})
    assert "'N' is no constexpr" in refused.get_json()["detail"]
