"""Test the trials of a compilation: its changes as a matrix that is found again, and single changes."""

import pytest
from api import Api, settled
from sources import SUMS

from explorer.matrix import Matrix
from explorer.model import LineEdit, Request
from explorer.model.limits import MOST_CELLS
from explorer.queries.findings.finding import Change, Finding
from explorer.views.trials import trial_configurations

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sums(app):
    return Api(app.test_client()).compile(SUMS)


def test_the_trials_of_a_compilation_are_found_without_starting_them(client, sums):
    assert client.get(f"{sums['api']}/trials").status_code == 204
    ticket = client.post(f"{sums['api']}/trials").get_json()
    document = settled(client, f"{sums['api']}/trials")
    assert document["id"] == ticket["id"]
    findings = client.get(f"{sums['api']}/findings").get_json()["findings"]
    changes = [change for finding in findings for change in finding["changes"]]
    unchanged, *cells = document["cells"]
    assert (len(document["cells"]), unchanged["id"]) == (ticket["cells"], sums["id"])
    titles = [each["title"] for each in document["configurations"]]
    assert titles[0] == "unchanged"
    assert titles[1:] == [f"line 8: {change['edits'][0]['text'].strip()}" for change in changes]
    sources = [client.get(f"/api/v1/compilations/{each['id']}/source").text for each in cells]
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


def test_edits_of_lines_that_the_source_does_not_have_are_refused(client, sums):
    for line in (-9, 0, 1000):
        edits = [{"line": line, "text": "pass"}]
        body = {"compilation": {"source": SUMS, "target": "cuda:90"}, "configurations": [{"edits": edits}]}
        for path, sent in ((f"{sums['api']}/changed", {"edits": edits}), ("/api/v1/matrices", body)):
            refused = client.post(path, json=sent)
            assert (refused.status_code, refused.get_json()["kind"]) == (400, "invalid_request")
            assert f"no line {line}" in refused.get_json()["detail"]


def test_trials_stay_within_the_limits_of_a_stored_matrix():
    few = tuple(Change("", constants={"BLOCK": size}) for size in range(MOST_CELLS + 1))
    assert len(trial_configurations([Finding("rule", "note", "", changes=(*few, *few))])) == MOST_CELLS
    many_edits = Change("", edits=tuple(LineEdit(line, "") for line in range(1, 102)))
    findings = [Finding("rule", "note", "", changes=each) for each in (few[:2], (many_edits,), few)]
    found = trial_configurations(findings)
    assert [each.constants.get("BLOCK") for each in found] == [None, 0, 1]
    matrix = Matrix(Request(SUMS, "cuda:90", ""), found, ("cuda:90",), ("",))
    assert Matrix.of(matrix.content()) == matrix
