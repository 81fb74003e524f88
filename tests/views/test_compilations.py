import io
import json
import zipfile

import pytest
from tritons import TRITONS


@pytest.mark.both_forms
def test_a_finished_compilation_has_everything(index, ticket, vector_add, services):
    assert index["id"] == ticket["id"]
    assert index["url"] == f"/k/{ticket['id']}"
    assert index["status"] == "complete"
    assert index["triton"] == services.versions[0]
    assert index["target"] == {
        "name": "cuda:90",
        "title": index["target"]["title"],
        "architecture": "sm_90",
        "vendor": "NVIDIA",
        "stages": ["ast", "ttir", "ttgir", "llir", "ptx", "sass"],
    }
    assert index["request"]["source"] == vector_add
    assert index["kernel"] == "add_kernel"
    assert index["kernel_line"] == 16
    assert index["language"] == "triton"
    assert [stage["name"] for stage in index["stages"]] == ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]
    assert [row["index"] for row in index["passes"]] == list(range(len(index["passes"])))
    assert index["resources"]["registers"] > 0
    assert 0 < index["resources"]["occupancy"] <= 1
    assert [kernel["name"] for kernel in index["kernels"]] == ["add_kernel"]
    assert [launch["line"] for launch in index["launches"]]


@pytest.mark.parametrize("triton", TRITONS)
def test_the_log_holds_what_was_said_and_nothing_that_we_have_asked_for(api, client, vector_add, triton):
    """The allocation dump is parsed by us and does not appear as a message of the compiler."""
    ticket = api.compile(vector_add + "# said\nimport sys\nsys.stderr.write('said')\n", triton=triton)
    index = client.get(ticket["api"]).get_json()
    logs = {row["source"]: row["text"] for row in index["logs"]}
    assert set(logs) == {"stdout", "ptxas"}
    assert logs["stdout"] == "vector_add: matches torch\nsaid"
    assert client.get(f"{ticket['api']}/allocation").get_json()["functions"]


def test_changed_lines_are_counted_when_somebody_looks(api, client, vector_add):
    ticket = api.compile(vector_add + "# counted\n")
    assert all(row["lines_added"] is None for row in client.get(ticket["api"]).get_json()["passes"])
    counted = client.get(f"{ticket['api']}/changes").get_json()
    rows = client.get(ticket["api"]).get_json()["passes"]
    assert [(row["index"], row["lines_added"], row["lines_removed"]) for row in rows] == [
        (row["index"], row["lines_added"], row["lines_removed"]) for row in counted
    ]
    changed = [row for row in rows if row["lines_added"] or row["lines_removed"]]
    assert changed
    assert all(row["changed"] for row in changed)


def test_a_stored_result_is_answered_with_200(api, ticket, vector_add):
    response = api.submit(vector_add)
    assert response.status_code == 200
    assert response.get_json() == {**ticket, "status": "complete"}


def test_a_new_request_is_answered_with_202(api, vector_add):
    response = api.submit(vector_add + "# new\n")
    ticket = response.get_json()
    assert response.status_code == 202
    assert ticket["status"] in ("queued", "running")
    assert api.events(ticket["events"])[-1][1] == "done"


def test_the_index_is_revalidated(client, ticket):
    first = client.get(ticket["api"])
    assert first.cache_control.no_cache
    again = client.get(ticket["api"], headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_source_is_plain_text(client, ticket, vector_add):
    response = client.get(ticket["api"] + "/source")
    assert response.mimetype == "text/plain"
    assert response.get_data(as_text=True) == vector_add


@pytest.mark.both_forms
def test_the_archive_holds_all_texts(client, ticket, index):
    response = client.get(ticket["api"] + "/archive.zip")
    assert response.mimetype == "application/zip"
    assert response.headers["Content-Disposition"] == f"attachment; filename=add_kernel-{ticket['id']}.zip"
    with zipfile.ZipFile(io.BytesIO(response.data)) as archive:
        result = json.loads(archive.read(f"{ticket['id']}/result.json"))
        rows = result["stages"] + result["passes"]
        texts = {row["url"]: archive.read(f"{ticket['id']}/{row['url']}") for row in rows}
    assert len(result["passes"]) == len(index["passes"])
    assert texts["ptx.ptx"] == client.get(ticket["api"] + "/stages/ptx").data
    assert texts["passes/001.mlir"] == client.get(ticket["api"] + "/passes/1").data


@pytest.mark.parametrize("path", ["", "/events", "/source", "/archive.zip", "/stages/ptx", "/passes/0"])
def test_an_unknown_compilation_is_not_found(client, path):
    response = client.get("/api/v1/compilations/123456789ABC" + path)
    assert response.status_code == 404
    assert response.get_json()["kind"] == "not_found"


@pytest.mark.both_forms
def test_a_cancelled_compilation_says_so(client, api, endless):
    ticket = api.submit(endless).get_json()
    assert client.delete(ticket["api"]).status_code == 204
    assert api.events(ticket["events"])[-1][2]["status"] == "failed"
    index = client.get(ticket["api"]).get_json()
    assert index["status"] == "failed"
    assert index["diagnostics"][-1]["message"] == "Canceled."


@pytest.mark.both_forms
def test_a_script_of_several_files_is_compiled(api, client, vector_add):
    source = vector_add.replace("import torch\n", "import torch\nfrom .shapes import COUNT\n", 1)
    files = {"kernels/shapes.py": "COUNT = 3\n"}
    ticket = api.compile(source, path="kernels/add.py", files=files)
    index = client.get(ticket["api"]).get_json()
    assert index["status"] == "complete"
    assert (index["request"]["path"], index["request"]["files"]) == ("kernels/add.py", files)
    with zipfile.ZipFile(io.BytesIO(client.get(f"{ticket['api']}/archive.zip").data)) as archive:
        names = [name for name in archive.namelist() if name.endswith("files/kernels/shapes.py")]
        assert [archive.read(name) for name in names] == [b"COUNT = 3\n"]


def test_two_launches_are_two_results(api, client, vector_add):
    source = vector_add + "\n    add_kernel[(1,)](x, y, x, 256, BLOCK_SIZE=256)\n"
    tickets = [api.compile(source, launch=launch) for launch in (0, 1)]
    first, second = (client.get(ticket["api"]).get_json() for ticket in tickets)
    assert first["id"] != second["id"]
    assert first["specialization"]["launch"] == 0
    assert second["specialization"]["launch"] == 1
    assert {argument["value"] for argument in second["specialization"]["arguments"]} >= {256}


def test_changes_are_part_of_the_request_and_cannot_be_run(api, client, vector_add):
    edits = {"stage": "", "text": "", "without_passes": ["tritongpu-coalesce"], "pass_options": {}}
    plain, empty, changed = (api.compile(vector_add, edits=each) for each in (None, {}, edits))
    assert plain["id"] == empty["id"] != changed["id"]
    index = client.get(changed["api"]).get_json()
    assert index["request"]["edits"] == edits
    assert "Coalesce (left out)" in [row["title"] for row in index["passes"]]
    body = {"compilation": changed["id"], "run": {"device": "interpreter"}}
    refused = client.post("/api/v1/runs", json=body)
    assert refused.status_code == 422
    assert "has edits" in refused.get_json()["detail"]
    compared = client.get(f"{plain['api']}/compare/{changed['id']}").get_json()
    assert {"name": "pass tritongpu-coalesce", "before": None, "after": "left out"} in compared["differences"]
