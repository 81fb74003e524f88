"""Test runs in the API: refused requests, profiles, and the runs of a compilation."""

import csv
import json
import os
import re
from hashlib import sha256
from typing import Any

import pytest
from api import Api
from flask import Response
from recorded import TRACE, recording, write_recording

from explorer.examples import EXAMPLES, find_example
from explorer.profiles.read import MOST_BYTES, Profiles, decode_document, read_profiles
from explorer.runs.documents import binary_match
from explorer.services import services_of
from explorer.settings import DEFAULT_RECORDINGS
from explorer.views.http import attachment

RECORDED = "/api/v1/runs/recorded-vector_add-0"


def post(client, ticket, **run):
    return client.post("/api/v1/runs", json={"compilation": ticket["id"], "run": run})


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({}, "`device`"),
        ({"device": "tpu"}, "'device' must be \"interpreter\" or \"gpu\", got 'tpu'"),
        ({"device": "interpreter", "measures": ["speed"]}, "Unknown measure 'speed'. Known are check, time"),
        ({"device": "interpreter", "repeats": 0}, "`$.run.repeats`"),
        ({"device": "interpreter", "repeats": 1001}, "`$.run.repeats`"),
        ({"device": "interpreter", "sizes": {"n": 0}}, "`$.run.sizes[...]`"),
        ({"device": "interpreter", "sizes": {"n m": 4}}, "$.run.sizes"),
        ({"device": "interpreter", "sweep_size": "n", "sweep_values": [1] * 65}, "length <= 64"),
        ({"device": "interpreter", "sweep_values": [1]}, "'sweep_values' needs 'sweep_size'"),
        ({"device": "interpreter", "reference": "x" * 100_001}, "`$.run.reference`"),
        (
            {"device": "interpreter", "inputs": [{"name": "x", "type": "*fp16", "shape": ["n"]}]},
            "need a grid",
        ),
        (
            {"device": "interpreter", "grid": ["1"], "inputs": [{"name": "x", "type": "float"}]},
            "unknown type 'float'",
        ),
        (
            {"device": "interpreter", "grid": ["1"], "inputs": [{"name": "x", "type": "i32"}] * 2},
            "'x' is given twice",
        ),
        ({"device": "interpreter", "speed": 1}, "unknown field `speed`"),
        ({"device": "interpreter", "sizes": {"n\n": 1}}, "'n\\n' is not a valid Python name"),
        ({"device": "interpreter", "sizes": {"lambda": 1}}, "'lambda' is not a valid Python name"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(client, ticket, run, message):
    response = post(client, ticket, **run)
    assert response.status_code == 400, response.get_json()
    assert message in response.get_json()["detail"]


def test_the_original_of_a_run_is_as_private_as_the_compilation(client, api, ticket, vector_add):
    run = {"device": "interpreter", "measures": ["check"]}

    def refused(original):
        response = client.post(
            "/api/v1/runs", json={"compilation": ticket["id"], "run": run, "original": original}
        )
        return response.status_code, response.get_json()["detail"]

    assert refused("123456789ABC")[0] == 404
    status, detail = refused(api.submit(vector_add, private=True).get_json()["id"])
    assert (status, detail) == (400, "Both compilations must be public, or private with the same key.")


@pytest.mark.slow
def test_a_kernel_is_compared_with_the_kernel_of_another_compilation(client, api, ticket, vector_add):
    changed = api.compile(vector_add.replace("x + y", "x - y"))
    body = {
        "compilation": changed["id"],
        "original": ticket["id"],
        "run": {"device": "interpreter", "measures": ["check"]},
    }
    run = client.post("/api/v1/runs", json=body).get_json()
    api.events(f"{run['api']}/events")
    check = client.get(f"{run['api']}/measurements/check").get_json()
    assert check["reference"] == "the original kernel"
    assert [each["matches"] for each in check["outputs"]] == [False]


def test_without_a_gpu_the_reason_and_a_way_out_are_told(client, ticket, services):
    reason = services.queue.problem("gpu")
    if reason is None:
        pytest.skip("this machine has a GPU")
    response = post(client, ticket, device="gpu")
    assert response.status_code == 409
    assert response.get_json()["kind"] == "no_device"
    assert reason in response.get_json()["detail"]
    assert "interpreter" in response.get_json()["detail"]


def test_an_unknown_compilation_or_run_is_not_found(client, ticket):
    body = {"compilation": "123456789ABC", "run": {"device": "interpreter"}}
    assert client.post("/api/v1/runs", json=body).status_code == 404
    assert client.get("/api/v1/runs/recorded-matmul-0").status_code == 404
    assert client.delete("/api/v1/runs/123456789ABC").status_code == 404
    response = client.get(f"/api/v1/runs/{ticket['id']}")
    assert response.status_code == 404
    assert "compilation" in response.get_json()["detail"]


@pytest.mark.parametrize("run_id", ["123456789ABC", "recorded-matmul-0"])
@pytest.mark.parametrize(
    "part",
    [
        "",
        "/events",
        "/roofline",
        "/heat",
        "/files",
        "/files/a",
        "/sweep.csv",
        "/measurements/check",
        "DELETE",
    ],
)
def test_a_run_that_is_not_there_is_called_a_run(client, run_id, part):
    address = f"/api/v1/runs/{run_id}"
    response = client.delete(address) if part == "DELETE" else client.get(address + part)
    problem = response.get_json()
    assert (response.status_code, problem["kind"]) == (404, "not_found")
    kind = "profile" if run_id.startswith("recorded") else "run"
    assert problem["detail"] == f"There is no {kind} {run_id!r} on this server. Check the link."


def test_a_compilation_is_not_cancelled_as_a_run(client, api, endless):
    compilation = api.submit(endless + "# not a run").get_json()
    response = client.delete(f"/api/v1/runs/{compilation['id']}")
    still = client.get(compilation["api"]).get_json()["status"]
    client.delete(compilation["api"])
    assert response.status_code == 404
    assert compilation["api"] in response.get_json()["detail"]
    assert still in ("queued", "running")


def test_samples_are_put_on_a_compilation_that_is_named(client):
    response = client.get(f"{RECORDED}/heat")
    assert (response.status_code, response.get_json()["error"]) == (422, "No answer")
    assert "?compilation=<id>" in response.get_json()["detail"]


@pytest.fixture(scope="module")
def interpreted(app):
    """Return the id of a completed run."""

    api = Api(app.test_client())
    compiled = api.compile(find_example("vector_add").source.replace("1_000_000", "257"))
    ticket = post(api.client, compiled, device="interpreter", measures=["check"]).get_json()
    api.events(ticket["events"])
    return ticket["id"]


def test_samples_of_another_kernel_are_not_put_on_a_compilation(client, api, vector_add):
    own = api.compile(vector_add.replace("add_kernel", "own_kernel"))
    query = f"?compilation={own['id']}"
    run = client.get(f"{RECORDED}{query}").get_json()
    assert (run["kernel"], run["compilation"], run["match"]) == ("add_kernel", None, None)
    response = client.get(f"{RECORDED}/heat{query}")
    assert response.status_code == 422
    assert (
        "The run is of add_kernel for cuda:90, and this compilation is of own_kernel"
        in (response.get_json()["detail"])
    )
    same_name = api.compile(vector_add.replace("x + y", "x * y"))
    response = client.get(f"{RECORDED}/heat?compilation={same_name['id']}")
    assert response.status_code == 422
    assert "The run is of another add_kernel" in response.get_json()["detail"]
    # Without a compilation, the document is available.
    alone = client.get(f"{RECORDED}/roofline").get_json()
    assert client.get(f"{RECORDED}/roofline{query}").get_json() == alone


@pytest.mark.parametrize(
    "part",
    [
        "",
        "/events",
        "/source",
        "/stages/ttir",
        "/passes/1",
        "/layouts",
        "/runs",
        "/export.html",
        "/archive.zip",
        "/compare/{compilation}",
        "/llvm-passes",
        "DELETE",
        "page",
        "card",
    ],
)
def test_a_run_is_no_compilation(client, ticket, interpreted, part):
    api, page = f"/api/v1/compilations/{interpreted}", f"/k/{interpreted}"
    if part == "DELETE":
        response = client.delete(api)
    elif part == "/llvm-passes":
        response = client.post(api + part)
    else:
        address = {"page": page, "card": f"{page}/card.png"}.get(part, api + part)
        response = client.get(address.format(compilation=ticket["id"]))
    assert response.status_code == 404
    if part not in ("page", "card"):
        detail = response.get_json()["detail"]
        assert (
            f"{interpreted!r} is a run, not a compilation. Its address is /api/v1/runs/{interpreted}"
            in detail
        )
        assert client.get(f"/api/v1/runs/{interpreted}").get_json()["status"] == "complete"
        shown = re.search(r"/k/(\w+)#panes=run:", detail)
        assert client.get(f"/k/{shown[1]}").status_code == 200


@pytest.mark.both_forms
def test_a_recorded_run_answers_like_any_other(client):
    run = client.get(RECORDED).get_json()
    assert run["status"] == "complete"
    assert run["kernel"] == "add_kernel"
    assert run["compilation"] is None
    assert run["run"]["device"] == "gpu"
    assert run["recorded"] == {
        "example": "vector_add",
        "gpu": "NVIDIA H200",
        "driver": "580.00",
        "triton": "3.6.0",
        "torch": "2.11.0",
        "command": "make record",
        "date": "2026-11-20T12:00:00Z",
    }
    urls = {row["name"]: row["url"] for row in run["measurements"]}
    timings = client.get(urls["timings"])
    assert timings.get_json()["timings"][0]["median_ns"] == 4000
    assert timings.cache_control.immutable
    again = client.get(urls["timings"], headers={"If-None-Match": timings.headers["ETag"]})
    assert again.status_code == 304
    missing = client.get(f"{RECORDED}/measurements/counts")
    assert missing.status_code == 404
    assert "timings" in missing.get_json()["detail"]
    events = client.get(f"{RECORDED}/events").get_data(as_text=True)
    assert "event: measurement" in events
    assert events.rstrip().splitlines()[-2] == "event: done"


def test_a_sweep_is_a_table(client):
    response = client.get(f"{RECORDED}/sweep.csv")
    assert response.mimetype == "text/csv"
    assert "add_kernel-sweep.csv" in response.headers["Content-Disposition"]
    rows = list(csv.DictReader(response.text.splitlines()))
    assert rows[0]["size"] == "4096"
    assert rows[0]["triton (GB/s)"] == "10.0"
    assert rows[1]["triton (GB/s)"] == ""
    assert rows[1]["torch high"] == "24.0"


def test_autotuning_is_a_table_that_computes_nothing(client):
    rows = list(csv.DictReader(client.get(f"{RECORDED}/autotuning.csv").text.splitlines()))
    assert [row["BLOCK"] for row in rows] == ["128", "64"]
    assert [row["num_warps"] for row in rows] == ["4", ""]
    assert rows[1]["problem"] == "'=out of shared memory"


def test_files_are_listed_without_their_data(client):
    assert client.get(f"{RECORDED}/files").json == {
        "files": [
            {"name": "trace.json", "media_type": "application/json", "bytes": len(TRACE)},
            {"name": "page.html", "media_type": "text/html", "bytes": 3},
        ]
    }


@pytest.mark.parametrize(("name", "data"), [("trace.json", TRACE), ("page.html", b"<b>")])
def test_files_are_to_be_saved_whatever_they_are(client, name, data):
    response = client.get(f"{RECORDED}/files/{name}")
    assert response.data == data
    assert response.mimetype == "application/octet-stream"
    assert response.headers["Content-Disposition"] == f"attachment; filename={name}"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("a\r\nSet-Cookie: b=c", "a-Set-Cookie-b-c"),
        ("../../\u202e\u0000é🙂.json", "json"),
        ("x" * 9000, "x" * 100),
    ],
)
def test_a_file_of_any_name_can_be_saved(app, name, saved):
    with app.test_request_context():
        response = attachment(Response(), name)
    assert response.headers["Content-Disposition"] == f"attachment; filename={saved}"


def test_a_file_that_is_not_there_is_not_found(client):
    response = client.get(f"{RECORDED}/files/other.txt")
    assert response.status_code == 404
    assert "trace.json" in response.get_json()["detail"]


def test_a_kernel_in_gluon_is_not_for_the_interpreter(api, client):
    ticket = api.compile(find_example("gluon_copy").source)
    devices = client.get(f"{ticket['api']}/runs").get_json()["devices"]
    assert devices["interpreter"]["available"] is False
    assert "Gluon" in devices["interpreter"]["reason"]


def test_a_compilation_knows_its_recordings_and_the_devices(client, ticket, services):
    document = client.get(f"{ticket['api']}/runs").get_json()
    (row,) = document["recordings"]
    assert row["id"] == "recorded-vector_add-0"
    assert row["match"] == ("exact" if services.versions[0] == "3.6.0" else "other triton")
    assert row["binary"] == "unknown"
    assert document["devices"]["interpreter"] == {"available": True, "reason": ""}
    assert document["devices"]["gpu"]["available"] is (services.queue.problem("gpu") is None)
    seen = client.get(f"{RECORDED}?compilation={ticket['id']}").get_json()
    assert seen["match"] == row["match"]
    assert seen["compilation"] == ticket["id"]


def match(tmp_path, app, compilation_id, source, example="vector_add", binary="", **changes):
    """Return the match of a hand-written profile with a compilation."""
    file = recording(source, example=example, **changes)
    file["runs"][0]["measurements"]["environment"]["binary_sha256"] = binary
    (tmp_path / f"{example}.json").write_text(json.dumps(file))
    matching = Profiles(tmp_path).matching(services_of(app).store.find(compilation_id))
    return [found for _, found in matching]


def test_a_profile_belongs_to_one_kernel_only(app, tmp_path, ticket, vector_add, services):
    triton, id_ = services.versions[0], ticket["id"]
    assert match(tmp_path, app, id_, vector_add, triton=triton) == ["exact"]
    assert match(tmp_path, app, id_, vector_add, triton="3.5.0") == ["other triton"]
    assert match(tmp_path, app, id_, vector_add, triton=triton, options={"num_warps": 8}) == ["other config"]
    assert match(tmp_path, app, id_, vector_add, triton=triton, launch=1) == ["other config"]
    assert match(tmp_path, app, id_, vector_add + "\n# older", triton=triton) == ["same kernel"]
    assert match(tmp_path, app, id_, vector_add, kernel="other_kernel") == []
    assert match(tmp_path, app, id_, vector_add, target="cuda:100") == []


def test_a_kernel_of_ones_own_never_has_a_strangers_profile(api, app, tmp_path, vector_add):
    own = api.compile(vector_add.replace("x + y", "x - y"))
    assert match(tmp_path, app, own["id"], vector_add) == []
    assert find_example("vector_add").source == vector_add


def test_the_closest_recording_is_the_first(app, tmp_path, ticket, vector_add, services):
    for name, triton in (("a", "3.5.0"), ("b", services.versions[0]), ("c", "3.4.0")):
        write_recording(tmp_path, vector_add, example=name, triton=triton)
    matching = Profiles(tmp_path).matching(services_of(app).store.find(ticket["id"]))
    assert next(recording.example for recording, _ in matching) == "b"


def test_the_binary_that_ran_is_compared_with_the_compiled_one(app, api, tmp_path, vector_add, ticket):
    binary = api.client.get(f"{ticket['api']}/binary").data
    for found, expected in ((binary, "same"), (b"other", "other")):
        file = recording(vector_add)
        file["runs"][0]["measurements"]["environment"]["binary_sha256"] = sha256(found).hexdigest()
        (tmp_path / "vector_add.json").write_text(json.dumps(file))
        services = services_of(app)
        before, services.profiles = services.profiles, Profiles(tmp_path)
        try:
            (row,) = api.client.get(f"{ticket['api']}/runs").get_json()["recordings"]
        finally:
            services.profiles = before
        assert row["binary"] == expected


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.update(format=2),
        lambda file: file["runs"][0]["measurements"].update(rumours={}),
        lambda file: file["runs"][0]["measurements"]["timings"].update(timings=[{}]),
        lambda file: file["runs"][0]["request"]["run"].update(device="tpu"),
        lambda file: file["runs"][0]["request"].update(target="cuda:9999999"),
        lambda file: file.update(example="../../matmul"),
        lambda file: file.update(command="x" * MOST_BYTES),
    ],
)
def test_a_file_that_is_no_recording_is_left_out(tmp_path, vector_add, spoil, caplog):
    write_recording(tmp_path, vector_add)
    file = recording(vector_add, example="matmul")
    spoil(file)
    (tmp_path / "matmul.json").write_text(json.dumps(file))
    assert list(Profiles(tmp_path).all) == ["recorded-vector_add-0"]
    assert "/matmul.json: " in caplog.text


def test_a_file_that_is_no_text_or_no_file_is_left_out(tmp_path, vector_add, caplog):
    write_recording(tmp_path, vector_add)
    (tmp_path / "latin.json").write_bytes(b'{"format":1,"example":"\xe9"}')
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    assert list(Profiles(tmp_path).all) == ["recorded-vector_add-0"]
    assert all(f"/{name}.json: " in caplog.text for name in ("latin", "folder", "pipe"))


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_kernel_of_the_gallery_is_recorded_and_right(example):
    path = DEFAULT_RECORDINGS / f"{example}.json"
    recordings = list(read_profiles(path))
    source = find_example(example).source
    for recording_ in recordings:
        assert f"def {recording_.request.kernel}(" in source
        assert recording_.environment.gpu
        documents: dict[str, Any] = {
            name: decode_document(name, data) for name, data in recording_.measurements.items()
        }
        assert documents["check"].reason == ""
        assert all(output.matches for output in documents["check"].outputs)
        assert {timing.method for timing in documents["timings"].timings} == {"proton", "do_bench"}
        assert documents["counters"].bytes["dram"] > 0
        assert documents["roofs"].roofs
    assert path.stat().st_size < 1_000_000, "recordings are kept small"


def test_the_roofline_of_a_recorded_run(client):
    """The profile's 1,048,576 additions and 12,582,912 bytes take 4 µs, on an H200 with 4.8 TB/s."""
    document = client.get(f"{RECORDED}/roofline").get_json()
    assert (document["reason"], document["gpu"], document["operation"]) == ("", "NVIDIA H200", "fp32")
    assert document["floors"][0]["binding"] == "dram"
    assert document["floors"][0]["share"] == pytest.approx(12_582_912 / 4.8e12 / 4e-6)
    assert [dot["level"] for dot in document["dots"]] == ["dram", "l2", "l1"]
    assert document["dots"][0]["intensity"] == pytest.approx(1 / 12)


def test_the_summary_of_a_recorded_run(client):
    response = client.get(f"{RECORDED}/summary")
    assert response.mimetype == "text/plain"
    assert response.text.startswith("add_kernel NVIDIA H200, driver 580.00, Triton 3.6.0\n")
    assert "\ntime       4 µs (3.90 µs to 4.20 µs), cold L2, proton\n" in response.text
    assert client.get(f"{RECORDED}/roofline").get_json()["verdict"] in response.text
    # Its roofline changes when the rates of the GPU are known.
    assert not response.cache_control.immutable
    assert response.cache_control.no_cache


def test_a_run_can_name_the_files_of_its_measurements(client):
    run, in_files = (client.get(RECORDED + links).get_json() for links in ("", "?links=files"))
    assert in_files.pop("api") == "run.json"
    urls = [row["url"] for row in in_files.pop("measurements")]
    assert urls == [f"measurements/{row['name']}.json" for row in run.pop("measurements")]
    assert {"api": RECORDED, **in_files} == {**run}


def test_a_roofline_without_a_run_is_not_found(client):
    assert client.get("/api/v1/runs/recorded-nothing-0/roofline").status_code == 404


@pytest.fixture(scope="module")
def small(app):
    """A compilation whose script launches a small grid, so that its interpretation is fast."""

    return Api(app.test_client()).compile(find_example("vector_add").source.replace("1_000_000", "4_099"))


@pytest.mark.both_forms
def test_a_run_in_the_interpreter_from_its_start_to_what_it_has_found(client, api, small):
    ticket = post(client, small, device="interpreter", measures=["counts", "check"])
    assert ticket.status_code == 202, ticket.get_json()
    ticket = ticket.get_json()
    events = api.events(ticket["events"])
    kinds = [kind for _, kind, _ in events]
    assert kinds[-1] == "done"
    told = {data["name"]: data["url"] for _, kind, data in events if kind == "measurement"}
    assert told.keys() >= {"launch", "environment", "check", "counts"}
    run = client.get(ticket["api"]).get_json()
    assert run["status"] == "complete"
    assert run["compilation"] == small["id"]
    assert run["kernel"] == "add_kernel"
    assert run["progress"] is None
    assert run["queue_position"] is None
    assert {row["name"]: row["url"] for row in run["measurements"]} == told
    assert client.get(told["check"]).get_json()["outputs"][0]["matches"]
    counts = client.get(told["counts"])
    assert counts.get_json()["loaded_bytes"] == 2 * 4 * 4099
    assert counts.cache_control.immutable
    assert post(client, small, device="interpreter", measures=["check", "counts"]).status_code == 200
    listed = client.get(f"{small['api']}/runs").get_json()["runs"]
    assert [row["id"] for row in listed] == [ticket["id"]]
    assert listed[0]["run"]["measures"] == ["check", "counts"]


@pytest.mark.both_forms
def test_a_run_is_cancelled(client, api, app, endless):
    compilation = api.submit(endless + "# to be run").get_json()
    client.delete(compilation["api"])
    ticket = post(client, compilation, device="interpreter").get_json()
    assert client.delete(ticket["api"]).status_code == 204
    assert api.events(ticket["events"])[-1][2]["status"] == "failed"
    run = client.get(ticket["api"]).get_json()
    assert run["status"] == "failed"
    assert "Canceled." in [diagnostic["message"] for diagnostic in run["diagnostics"]]


def test_what_goes_wrong_in_a_run_is_told_on_its_line(client, api):
    source = find_example("vector_add").source.replace("x + y, mask=mask)", "x + unknown, mask=mask)")
    compilation = api.compile(source.replace("1_000_000", "4_099"))
    ticket = post(client, compilation, device="interpreter").get_json()
    api.events(ticket["events"])
    run = client.get(ticket["api"]).get_json()
    assert run["status"] == "failed"
    (error,) = [each for each in run["diagnostics"] if each["severity"] == "error"]
    assert "unknown" in error["message"]
    assert (run["matches"], run["not_compared"]) == (None, "")  # a check could compare
    assert error["line"] == source[: source.index("x + unknown")].count("\n") + 1
    (row,) = client.get(f"{compilation['api']}/runs").get_json()["runs"]
    assert (row["status"], row["matches"], row["problem"]) == ("failed", None, error["message"])


def test_a_list_of_runs_tells_a_wrong_result_from_a_right_one(client, api):
    source = find_example("vector_add").source.replace("1_000_000", "4_098")
    wrong = source.replace("x + y, mask=mask)", "x - y, mask=mask)")
    for text, expected in ((source, True), (wrong, False)):
        compilation = api.compile(text)
        ticket = post(client, compilation, device="interpreter", measures=["check"]).get_json()
        api.events(ticket["events"])
        (row,) = client.get(f"{compilation['api']}/runs").get_json()["runs"]
        assert (row["status"], row["matches"]) == ("complete", expected)
        assert bool(row["problem"]) is not expected
        run = client.get(ticket["api"]).get_json()
        assert (run["matches"], run["problem"]) == (row["matches"], row["problem"])


def test_other_debug_information_leaves_the_code_the_same(app, client, api, tmp_path, vector_add, ticket):
    """The binary contains a path of the machine that compiled it; its code does not."""
    sass = client.get(f"{ticket['api']}/stages/sass").text
    listed = re.findall(r"/\*([0-9a-f]{4,})\*/\s+(?:@!?\w+ )?([A-Z][A-Z0-9_.]*)", sass)
    assert len(listed) > 20
    for spoil, expected in ((None, "same"), ("EXIT", "other")):
        file = recording(vector_add)
        measured = file["runs"][0]["measurements"]
        measured["environment"]["binary_sha256"] = sha256(b"of another machine").hexdigest()
        measured["samples"] = {
            "reason": "",
            "instructions": [
                {
                    "offset_bytes": int(offset, 16),
                    "instruction": spoil or name,
                    "samples": 1,
                    "stalls": {},
                }
                for offset, name in listed
            ],
        }
        (tmp_path / "vector_add.json").write_text(json.dumps(file))
        compilation = services_of(app).store.find(ticket["id"])
        ((found, _),) = Profiles(tmp_path).matching(compilation)
        assert binary_match(found.record, compilation) == expected
