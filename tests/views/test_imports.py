"""Test imports over the API: what other tools have written, and hostile files."""

import base64
import gzip
import io
import json
import os
import subprocess
import tempfile
import zipfile
import zlib

import pytest
from captured import ROOT, kernels_of
from disassembled import Tools
from tritons import TRITONS

from explorer.jobs.isolated_process import Limits
from explorer.jobs.uploads import Uploads
from explorer.model import to_plain
from explorer.services import services_of

pytestmark = pytest.mark.slow

RECORDED = ROOT / "tests/capture/recorded"
METADATA = {"target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4, "name": "kernel"}


def send(client, name, data, **headers):
    headers = {"Content-Type": "application/octet-stream", **headers}
    return client.post(f"/api/v1/imports?name={name}", data=data, headers=headers)


def packed(files):
    """Return a zip archive of files by their paths."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return data.getvalue()


def files_in(folder, prefix=""):
    return {
        f"{prefix}{path.relative_to(folder)}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows_of(api, client, document):
    """Return the rows of the session of an import, when all of its kernels are finished."""
    body = {"title": "import", "kernels": document["kernels"], "problems": document["problems"]}
    ticket = client.post("/api/v1/sessions", json=body).get_json()
    for kernel in document["kernels"]:
        api.events(f"/api/v1/compilations/{kernel['compilation']}/events")
    return client.get(ticket["api"]).get_json()


def test_a_cache_that_is_packed_has_the_kernels_of_the_folder(api, client, cache):
    document = send(client, "cache.zip", packed(files_in(cache, "cache/"))).get_json()
    assert (document["title"], document["problems"]) == ("", [])
    session = rows_of(api, client, document)
    assert sorted(row["kernel"] for row in session["kernels"]) == ["scale_kernel"] * 2 + ["sum_kernel"]
    assert all(row["resources"]["registers"] for row in session["kernels"])


@pytest.mark.both_forms
def test_a_capture_that_is_packed_is_that_of_push(client, captured):
    document = send(client, "kernels.zip", packed(files_in(captured.folder))).get_json()
    assert (document["title"], document["problems"]) == ("program.py", [])
    assert [(each["launches"], bool(each["again"])) for each in document["kernels"]] == [(1, True)] * 3


def test_kernels_of_inductor_are_compiled(api, client):
    document = send(client, "output.log", (RECORDED / "output_code.log").read_bytes()).get_json()
    session = rows_of(api, client, document)
    (row,) = session["kernels"]
    assert (row["status"], row["target"], row["agreement"]) == ("complete", "cuda:90", "only here")
    assert row["kernel"] == "triton_per_fused_div_exp_prepare_softmax_online_sub_0"
    assert row["grid"] == [512, 1, 1]


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(client):
    good = {
        "good/__grp__kernel.json": "{}",
        "good/kernel.json": json.dumps(METADATA),
        "good/kernel.ttir": "m",
    }
    torn = {"torn/__grp__kernel.json": "{}", "torn/kernel.json": '{"target": {"back'}
    hostile = {"../outside": "x", "/etc/outside": "x", "good": "a file in place of the folder"}
    archive = bytearray(packed({**good, **torn, "other/kernel.ttir": "damaged" * 9, **hostile}))
    at = archive.index(zlib.compress(b"damaged" * 9)[2:-4])
    archive[at : at + 4] = b"\xff\xff\xff\xff"
    document = send(client, "cache.zip", bytes(archive)).get_json()
    assert len(document["kernels"]) == 1
    names = {each["name"]: each["reason"] for each in document["problems"]}
    assert names.keys() == {"torn/kernel", "other/kernel.ttir", "../outside", "/etc/outside", "good"}
    assert "cannot be unpacked" in names["other/kernel.ttir"]
    assert "not below the folder" in names["../outside"]
    body = {"title": "import", "kernels": document["kernels"], "problems": document["problems"]}
    address = client.post("/api/v1/sessions", json=body).get_json()["api"]
    assert client.get(address).get_json()["problems"] == document["problems"]


@pytest.mark.parametrize(
    ("name", "data", "detail"),
    [
        ("cache.zip", b"PK\x05\x06" + bytes(18), "cache has no kernels"),
        ("cache.zip", b"PK\x03\x04 torn", "cannot be imported"),
        ("script.py", b"import triton", "script.py cannot be imported"),
        ("../../etc/passwd", b"", "etc_passwd cannot be imported"),
        ("", b"", "file cannot be imported"),
    ],
    ids=("empty", "torn", "script", "path", "no name"),
)
def test_what_is_no_import_is_refused(client, name, data, detail):
    response = send(client, name, data)
    assert response.status_code == 400
    assert detail in response.get_json()["detail"]
    assert "/tmp" not in response.get_json()["detail"]


def test_a_file_beyond_the_limits_is_refused(app, client, monkeypatch):
    assert send(client, "a.log", bytes(8 << 20)).status_code == 413
    assert send(client, "a.log", b"", **{"Content-Type": "text/plain"}).status_code == 415
    bomb = packed({f"{number}.ttgir": bytes(50 << 20) for number in range(6)})
    assert "when it is unpacked" in send(client, "bomb.zip", bomb).get_json()["detail"]
    uploads = Uploads(Limits(memory_bytes=300 << 20))
    monkeypatch.setattr(services_of(app), "uploads", uploads)
    response = send(client, "long.ndjson.gz", gzip.compress(bytes(120 << 20), 1))
    uploads.close()
    assert response.status_code == 422
    assert "needs too much time or memory" in response.get_json()["detail"]


def test_the_folders_of_servers_that_were_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with subprocess.Popen(["true"]) as ended:
        pass
    folders = [tmp_path / f"triton-explorer-upload-{number}-x" for number in (ended.pid, os.getpid())]
    for folder in folders:
        (folder / "upload").mkdir(parents=True)
    Uploads().close()
    assert [folder.exists() for folder in folders] == [False, True]


def stage_of(api, client, kernel, name):
    return client.get(f"/api/v1/compilations/{kernel['compilation']}/stages/{name}").get_data(as_text=True)


def test_a_cubin_has_the_machine_code_and_the_registers_of_the_capture(api, client, captured):
    own = next(each for each in kernels_of(captured.folder) if each.file.kernel == "sum_kernel")
    body = {**to_plain(own.captured), "source": "pass\n", "target": "cuda:90", "again": False}
    compared = client.post("/api/v1/captures", json=body).get_json()
    binary = base64.b64decode(own.captured.stages["cubin"])
    document = send(client, "sum.cubin", binary).get_json()
    assert document["problems"] == []
    (entry,) = document["kernels"]
    (row, other) = rows_of(api, client, {**document, "kernels": [entry, {"compilation": compared["id"]}]})[
        "kernels"
    ]
    assert [row[key] for key in ("kernel", "target", "triton", "status")] == [
        "sum_kernel",
        "cuda:90",
        "unknown",
        "complete",
    ]
    for name in ("registers", "warps", "stack_bytes"):
        assert row["resources"][name] == other["resources"][name], name
    # Triton's kernels have dynamic shared memory only, whose size is not in the cubin.
    assert other["resources"]["shared_bytes"] > 0
    assert row["resources"]["shared_bytes"] is None
    assert row["resources"]["static_shared_bytes"] == 0
    shown = client.get(f"/api/v1/compilations/{entry['compilation']}").get_json()
    assert [stage["name"] for stage in shown["stages"]] == ["sass"]
    assert shown["diagnostics"] == []
    assert stage_of(api, client, entry, "sass") == stage_of(
        api, client, {"compilation": compared["id"]}, "sass"
    )


def test_each_kernel_of_a_cubin_has_its_own_machine_code(api, client, tmp_path):
    cubin = Tools(TRITONS[0], 100).assemble("calls", tmp_path)
    document = send(client, "calls.cubin", cubin).get_json()
    names = [row["kernel"] for row in rows_of(api, client, document)["kernels"]]
    assert sorted(names) == ["first", "second"]
    for name, other, entry in zip(names, reversed(names), document["kernels"], strict=True):
        text = stage_of(api, client, entry, "sass")
        assert f"\n.text.{name}:\n" in text
        assert f".text.{other}:" not in text
        address = f"/api/v1/compilations/{entry['compilation']}/registers"
        live = client.get(address).get_json()
        assert {each["function"] for each in live["instructions"]} == {name}
        assert all(each["line"] for each in live["instructions"])


def test_a_cubin_with_static_shared_memory_says_how_much(api, client, tmp_path):
    cubin = Tools(TRITONS[0], 75).assemble("loop", tmp_path)
    document = send(client, "loop.cubin", cubin).get_json()
    (row,) = rows_of(api, client, document)["kernels"]
    assert (row["target"], row["status"]) == ("cuda:75", "complete")
    assert row["resources"]["static_shared_bytes"] == 512
    assert row["resources"]["shared_bytes"] is None


def test_a_cubin_that_is_damaged_is_named(client, tmp_path):
    cubin = Tools(TRITONS[0], 80).assemble("calls", tmp_path)
    document = send(client, "torn.cubin", cubin[:1000]).get_json()
    assert document["kernels"] == []
    assert document["problems"] == [
        {"name": "torn.cubin", "reason": "it is no cubin, or is damaged: it is cut off"}
    ]


def test_a_trace_without_a_binary_has_the_shared_memory_of_its_metadata(api, client):
    metadata = {**METADATA, "hash": "1", "shared": 1536, "num_warps": 4}
    payload = {"metadata": metadata, "file_content": {"kernel.ttir": "module {\n}\n"}}
    trace = json.dumps({"event_type": "compilation", "payload": payload}).encode()
    document = send(client, "trace.ndjson", trace).get_json()
    (row,) = rows_of(api, client, document)["kernels"]
    assert (row["resources"]["shared_bytes"], row["resources"]["registers"]) == (1536, None)
    page = client.get(f"/api/v1/compilations/{row['id']}").get_json()
    assert page["resources"]["threads"] == 128
