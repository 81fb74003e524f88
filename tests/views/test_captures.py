"""Test captures and sessions over the API: the stages of a program, its compilation here, hostile bodies."""

import base64

import pytest
from captured import kernels_of

from explorer.model import to_plain


@pytest.fixture(scope="module")
def kernels(captured):
    """The kernels of the program in the documentation, by name; of two with the same name the last one."""
    return {kernel.file.kernel: kernel for kernel in kernels_of(captured.folder)}


def body_of(kernel, **changes):
    return {
        **to_plain(kernel.captured),
        "source": kernel.file.script,
        "target": kernel.file.target.name,
        **changes,
    }


def finished(api, ticket):
    api.events(ticket["events"])
    return api.client.get(ticket["api"]).get_json()


@pytest.fixture
def submitted(api, kernels):
    """The ticket and the finished document of a captured kernel."""
    ticket = api.client.post("/api/v1/captures", json=body_of(kernels["sum_kernel"])).get_json()
    return ticket, finished(api, ticket)


@pytest.mark.both_forms
def test_the_stages_are_those_of_the_program(client, kernels, submitted):
    _, document = submitted
    assert document["status"] == "complete"
    assert [stage["name"] for stage in document["stages"]] == ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]
    own = kernels["sum_kernel"].captured.stages
    for name in ("ttir", "ttgir", "llir", "ptx"):
        address = f"/api/v1/compilations/{document['id']}/stages/{name}?raw=1"
        assert client.get(address).get_data(as_text=True) == own[name]
    binary = client.get(f"/api/v1/compilations/{document['id']}/binary").get_data()
    assert base64.b64encode(binary).decode() == own["cubin"]
    assert not document["passes"]


def test_lines_are_linked_to_the_script(client, submitted):
    _, document = submitted
    script = document["request"]["source"].splitlines()
    for stage in ("ttir", "ttgir", "llir", "ptx", "sass"):
        locations = client.get(f"/api/v1/compilations/{document['id']}/stages/{stage}/locations").get_json()
        lines = {line for each in locations["source_lines"] for line in each}
        assert any("tl.sum(" in script[line - 1] for line in lines), stage


def test_resources_are_those_of_the_binary(submitted):
    _, document = submitted
    assert document["resources"]["registers"] > 0
    assert document["resources"]["spill_stores_bytes"] == 0
    assert document["resources"]["warps"] == 8
    assert document["resources"]["shared_bytes"] > 0


def test_the_launch_of_the_program_is_repeated(submitted):
    _, document = submitted
    assert document["specialization"]["signature"] == "*fp32:16, *fp32:16, i32, 1024"
    assert document["specialization"]["grid"] == [1]
    assert document["request"]["source"].startswith("import torch\n")


def session_of(client, *entries, title="program.py"):
    ticket = client.post("/api/v1/sessions", json={"title": title, "kernels": list(entries)}).get_json()
    return client.get(ticket["api"]).get_json()


def test_a_session_compares_with_what_is_compiled_here(api, client, kernels, submitted):
    ticket, _ = submitted
    address = f"/api/v1/compilations/{ticket['again']}"
    again = finished(api, {"api": address, "events": f"{address}/events"})
    assert again["passes"]
    entry = {"compilation": ticket["id"], "again": ticket["again"], "launches": 3, "milliseconds": 12.5}
    session = session_of(client, entry)
    (row,) = session["kernels"]
    assert row["kernel"] == "sum_kernel"
    assert row["agreement"] == "equal code"
    assert (row["launches"], row["milliseconds"]) == (3, 12.5)
    assert row["resources"]["registers"] == again["resources"]["registers"]
    assert row["compare_url"] == f"/compare/{ticket['id']}..{ticket['again']}"
    assert client.get(row["compare_url"]).status_code == 200
    # Against another specialization, the code differs.
    other = client.post("/api/v1/captures", json=body_of(kernels["scale_kernel"])).get_json()
    finished(api, other)
    (row,) = session_of(client, {"compilation": other["id"], "again": ticket["again"]})["kernels"]
    assert row["agreement"] == "different"


@pytest.mark.both_forms
def test_equal_sessions_have_one_permanent_link(client, submitted):
    ticket, _ = submitted
    first, second = (session_of(client, {"compilation": ticket["id"]}, title="one") for _ in range(2))
    assert first["id"] == second["id"]
    page = client.get(first["url"])
    assert page.status_code == 200
    assert "one · triton·explorer" in page.get_data(as_text=True)
    assert session_of(client, {"compilation": ticket["id"]}, title="two")["id"] != first["id"]


def test_a_kernel_that_was_removed_is_counted(client, submitted):
    ticket, _ = submitted
    session = session_of(client, {"compilation": ticket["id"]}, {"compilation": "nothing"})
    assert (len(session["kernels"]), session["removed"]) == (1, 1)


def test_a_kernel_whose_script_is_broken_has_the_stages_of_the_program(api, client, kernels):
    body = body_of(kernels["sum_kernel"], source="import no_such_module\nno_such_module.launch()\n")
    document = finished(api, client.post("/api/v1/captures", json=body).get_json())
    assert document["status"] == "complete"
    assert [stage["name"] for stage in document["stages"]] == ["ttir", "ttgir", "llir", "ptx", "sass"]
    assert document["kernel"] == "sum_kernel"
    assert any("does not repeat the launch" in each["message"] for each in document["diagnostics"])


def test_a_kernel_without_source_and_version_has_stages_and_registers(api, client, kernels, submitted):
    _, own = submitted
    body = body_of(kernels["sum_kernel"], source="# no source\n", triton="unknown", origins=[])
    ticket = client.post("/api/v1/captures", json=body).get_json()
    assert ticket["again"] is None
    document = finished(api, ticket)
    assert document["status"] == "complete"
    assert [stage["name"] for stage in document["stages"]] == ["ttir", "ttgir", "llir", "ptx", "sass"]
    assert document["resources"] == own["resources"]
    assert [each["severity"] for each in document["diagnostics"]] == ["note"]
    # Neither are the arguments of a kernel without a launch guessed.
    source = "import triton\n\n@triton.jit\ndef sum_kernel(x_ptr, y_ptr, size, BLOCK):\n    pass\n"
    document = finished(api, client.post("/api/v1/captures", json={**body, "source": source}).get_json())
    assert document["kernel"] == "sum_kernel"
    assert document["specialization"]["signature"] == ""
    # The options of the assembler are not taken from what anybody may have written.
    body["metadata"] = {**body["metadata"], "num_warps": "x", "maxnreg": -1, "ptx_options": "--version"}
    assert finished(api, client.post("/api/v1/captures", json=body).get_json())["status"] == "complete"


def test_a_failed_compilation_shows_the_message_of_the_program(api, client, kernels):
    stages = {"ttir": kernels["sum_kernel"].captured.stages["ttir"]}
    body = body_of(kernels["sum_kernel"], stages=stages, error="CompilationError: at 2:4\nno such name")
    document = finished(api, client.post("/api/v1/captures", json=body).get_json())
    assert document["status"] == "failed"
    assert [stage["name"] for stage in document["stages"]] == ["ast", "ttir"]
    assert any("no such name" in each["message"] for each in document["diagnostics"])


def test_another_version_of_triton_is_shown_and_not_compiled(api, client, kernels, submitted):
    _, own = submitted
    body = body_of(kernels["sum_kernel"], triton="3.5.9")
    ticket = client.post("/api/v1/captures", json=body).get_json()
    assert ticket["again"] is None
    document = finished(api, ticket)
    assert document["status"] == "complete"
    # The binary says its registers; only the assembler reports its spills.
    assert document["resources"]["registers"] == own["resources"]["registers"]
    assert document["resources"]["spill_stores_bytes"] is None
    (row,) = session_of(client, {"compilation": ticket["id"]})["kernels"]
    assert (row["triton"], row["agreement"]) == ("3.5.9", "unknown")


@pytest.mark.parametrize(
    "stages",
    [
        {"source": "no tree", "sass": "<b>", "amdgcn": "\x00"},
        {"cubin": base64.b64encode(b"\x7fELF\x02" + b"\xff" * 200).decode()},
        {"ttir": "module {" * 1000, "ptx": ".loc 1 2 3\n" * 1000, "cubin": base64.b64encode(b"").decode()},
        {"ttgir": "\x00 loc(#loc1)\n#loc1 = loc(#loc1)", "llir": "!1 = !DILocation(inlinedAt: !1)"},
    ],
)
def test_stages_that_no_compiler_makes_cost_an_error_only(api, client, kernels, stages):
    body = body_of(kernels["sum_kernel"], stages=stages, again=False)
    response = client.post("/api/v1/captures", json=body)
    document = finished(api, response.get_json())
    assert document["status"] == "complete"
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "changes",
    [
        {"source": ""},
        {"target": "cuda:1"},
        {"stages": {"../../x": ""}},
        {"stages": {"ttir": 3}},
        {"stages": {f"s{n}": "" for n in range(50)}},
        {"origins": [{"file": "x", "line": -1, "lines": 1, "script_line": 1}]},
        {"options": {"num_warps": [4]}},
        {"stages": {"cubin": "no base 64 !"}},
        {"milliseconds": {"ptx": -1.0}},
        {"milliseconds": {"ptx": 1e308}},
        {"stages": {"ttir": "\ud83d"}},
        {"error": "e" * 100_001},
        {"unknown": 1},
    ],
)
def test_a_body_that_is_not_valid_is_refused(client, kernels, changes):
    response = client.post("/api/v1/captures", json=body_of(kernels["sum_kernel"], **changes))
    assert response.status_code in (400, 404)


def test_sessions_that_are_not_valid_are_refused(client, ticket):
    for body in ({"title": "", "kernels": []}, {"title": "x" * 300, "kernels": [{"compilation": "a"}]}, {}):
        assert client.post("/api/v1/sessions", json=body).status_code == 400
    for session_id in ("nothing", ticket["id"]):
        assert client.get(f"/api/v1/sessions/{session_id}").status_code == 404
        assert client.get(f"/s/{session_id}").status_code == 404


def test_a_session_is_no_compilation(client, submitted):
    ticket, _ = submitted
    session = session_of(client, {"compilation": ticket["id"]})
    assert client.get(f"/api/v1/compilations/{session['id']}").status_code == 404
    assert client.get(f"/k/{session['id']}").status_code == 404


def test_a_session_needs_kernels_of_the_server_and_each_once(client, submitted):
    ticket, _ = submitted
    session = session_of(client, {"compilation": ticket["id"]})
    for names, message in (
        (["nothing", session["id"]], "has none of these kernels"),
        (["nothing", ticket["id"], "nothing"], "'nothing' 2 times"),
        (["../../x"], "regex"),
    ):
        kernels = [{"compilation": name} for name in names]
        response = client.post("/api/v1/sessions", json={"title": "", "kernels": kernels})
        assert response.status_code == 400
        assert message in response.get_json()["detail"]
