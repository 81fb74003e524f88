"""Test `push` with a running server: programs, runs, and folders that anybody may have written."""

import base64
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request

import pytest
from captured import DOCUMENT, ROOT, kernels_of

from explorer.capture.folder import CaptureFolder
from explorer.examples import find_example


def push(folder, server, *options):
    return subprocess.run(
        [sys.executable, "-m", "explorer", "push", str(folder), "--to", server.url, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


def run_documented(commands, folder, server):
    """Run the commands of a page of the documentation, with a folder as the home. Return their output."""
    variables = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "TRITON_EXPLORER_SERVER": server.url}
    ended = subprocess.run(
        ["sh", "-e"],
        input=commands.replace("triton-explorer", f"{sys.executable} -m explorer"),
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def session(server, pushed):
    """Return the session whose address `push` has printed."""
    url = pushed.stdout.strip()
    assert url.startswith(f"{server.url}/s/")
    return server.get(f"/api/v1/sessions/{url.rpartition('/')[2]}")


def kernel(**changes):
    return {
        "version": 1,
        "kernel": "kernel",
        "triton": "3.9.0",
        "target": {"backend": "cuda", "arch": "90", "warp_size": 32},
        "script": "pass\n",
        "origins": [],
        "options": {},
        "metadata": {},
        "stages": {},
        "error": "",
        **changes,
    }


def test_the_kernels_of_a_program_are_a_session(captured, server):
    pushed = push(captured.folder, server)
    assert (pushed.returncode, pushed.stderr) == (0, "3 kernels sent.\n")
    document = session(server, pushed)
    assert document["title"] == "program.py"
    assert [row["kernel"] for row in document["kernels"]] == ["scale_kernel", "scale_kernel", "sum_kernel"]
    assert [row["launches"] for row in document["kernels"]] == [1, 1, 1]
    assert all(row["again"] and row["milliseconds"] > 0 for row in document["kernels"])
    again = push(captured.folder, server, "--title", "mine", "--no-compile")
    document = session(server, again)
    assert document["title"] == "mine"
    assert all(row["again"] is None for row in document["kernels"])


def test_triton_s_cache_is_a_session_with_the_registers_of_the_program(captured, cache, server):
    def rows_of(*command):
        pushed = push(*command)
        assert (pushed.returncode, pushed.stderr) == (0, "3 kernels sent.\n")
        for row in session(server, pushed)["kernels"]:
            assert list(server.events({"events": f"/api/v1/compilations/{row['id']}/events"}))
        rows = session(server, pushed)["kernels"]
        assert [row["status"] for row in rows] == ["complete"] * 3
        return rows

    imported = rows_of(cache, server, "--sources")
    own = rows_of(captured.folder, server, "--no-compile")
    assert all(row["again"] is None and row["launches"] is None for row in imported)
    assert all(row["resources"]["registers"] for row in imported)
    key = lambda row: json.dumps([row["kernel"], row["triton"], row["target"], row["resources"]])  # noqa: E731
    assert sorted(map(key, imported)) == sorted(map(key, own))


def test_what_cannot_be_sent_is_named_and_the_rest_is_sent(server, tmp_path):
    folder = CaptureFolder(tmp_path / "capture")
    folder.add_kernel("good", kernel())
    folder.add_kernel("clear", kernel(kernel="\x1b[2J\u202e", target={**kernel()["target"], "arch": "1"}))
    folder.write("kernels/torn.json", b'{"version": 1, "ker')
    pushed = push(folder.path, server)
    assert pushed.returncode == 1
    assert "\x1b" not in pushed.stderr
    assert "\\x1b[2J\\u202e: not sent: Unknown target 'cuda:1'" in pushed.stderr
    assert "kernels/torn.json: not sent: Input data was truncated" in pushed.stderr
    assert "1 kernel sent, 2 not." in pushed.stderr
    assert len(session(server, pushed)["kernels"]) == 1


def test_equal_kernels_are_one_row_with_all_launches(server, tmp_path):
    folder = CaptureFolder(tmp_path / "capture")
    for name, launches in (("one", 3), ("two", 4)):
        folder.add_kernel(name, kernel())
        folder.write_process(name, {"version": 1, "launches": {name: launches}})
    pushed = push(folder.path, server)
    assert pushed.returncode == 0, pushed.stderr
    (row,) = session(server, pushed)["kernels"]
    assert row["launches"] == 7


def test_a_folder_without_kernels_is_refused(server, tmp_path):
    pushed = push(CaptureFolder(tmp_path / "capture").path, server)
    assert pushed.returncode == 1
    assert "has no kernel that can be sent" in pushed.stderr


@pytest.fixture
def measured_run(tmp_path):
    """A file like the output of `profile --json`, with measurements of a GPU."""
    recorded = json.loads((ROOT / "proton_profiles/vector_add.json").read_text())["runs"][0]
    asked = recorded["request"]
    asked.pop("source_sha256")
    run = {"run": asked.pop("run"), "diagnostics": [], "status": "complete", "milliseconds": 1.5}
    request = {**asked, "source": find_example("vector_add").source, "task": "run", "arguments": None}
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"request": request, "run": run, "measured": recorded["measurements"]}))
    return file


def test_a_run_of_another_machine_is_shown_with_its_kernel(measured_run, server):
    pushed = push(measured_run, server)
    assert (pushed.returncode, pushed.stderr) == (0, "")
    page, _, run_id = pushed.stdout.strip().partition("#panes=run:")
    compilation = page.rpartition("/")[2]
    wanted = json.loads(measured_run.read_text())
    document = server.get(f"/api/v1/runs/{run_id}")
    assert document["compilation"] == compilation
    assert document["gpu"] == wanted["measured"]["environment"]["gpu"]
    names = {row["name"] for row in document["measurements"]}
    assert names == wanted["measured"].keys() - {"files"}
    assert server.get(f"/api/v1/runs/{run_id}/measurements/timings") == wanted["measured"]["timings"]
    listed = server.get(f"/api/v1/compilations/{compilation}/runs")
    assert [row["id"] for row in listed["imported"]] == [run_id]
    assert listed["runs"] == []  # imported runs, which are not trusted, are listed separately
    assert push(measured_run, server).stdout == pushed.stdout


@pytest.mark.parametrize(
    ("name", "document", "problem"),
    [
        ("nothing", {}, "unknown measurement 'nothing'"),
        ("timings", {"median": 1}, "the measurement timings: "),
        ("check", {"outputs": 7}, "the measurement check: "),
    ],
)
def test_a_measurement_that_is_not_valid_is_refused(measured_run, server, name, document, problem):
    content = json.loads(measured_run.read_text())
    content["measured"] = {name: document}
    measured_run.write_text(json.dumps(content))
    pushed = push(measured_run, server)
    assert pushed.returncode == 1
    assert problem in pushed.stderr


def test_a_file_without_a_run_is_named(server, tmp_path):
    file = tmp_path / "run.json"
    file.write_text('{"request": {}}')
    pushed = push(file, server)
    assert pushed.returncode == 1
    assert "run.json has no run" in pushed.stderr


def test_a_source_is_not_taken_for_a_run_and_the_advised_command_compiles_it(server, tmp_path):
    file = tmp_path / "kernel.ttir"
    file.write_text("module {\n  tt.func public @k(%a: !tt.ptr<f32>) {\n    tt.return\n  }\n}\n")
    pushed = push(file, server)
    assert pushed.returncode == 1
    assert "kernel.ttir is a source, not a capture or a run" in pushed.stderr
    (command,) = re.findall("`triton-explorer (.+)`", pushed.stderr)
    arguments = [*command.split(), "--stage", "ptx"]
    environment = {**os.environ, "TRITON_EXPLORER_SERVER": server.url, "PYTHONPATH": str(ROOT)}
    compiled = subprocess.run(
        [sys.executable, "-m", "explorer", *arguments],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ".entry k" in compiled.stdout, compiled.stderr


def test_the_documented_imports_are_sessions(captured, cache, server, tmp_path):
    assert captured.status == 0
    (block,) = re.findall(r"```sh\n(triton-explorer push ~.+?)```", DOCUMENT, re.DOTALL)
    ((archive, request),) = re.findall(r"```sh\n(python -m zipfile.+?\n)(curl .+?)```", DOCUMENT, re.DOTALL)
    shutil.copytree(cache, tmp_path / ".triton/cache")
    shutil.copytree(cache, tmp_path / ".triton/dump", ignore=shutil.ignore_patterns("*.json"))
    shutil.copytree(ROOT / "tests/capture/recorded", tmp_path / "logs")
    metadata = {"hash": "one", "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "name": "kernel"}
    event = {"event_type": "compilation", "payload": {"metadata": metadata}}
    (tmp_path / "logs/trace.ndjson.gz").write_bytes(gzip.compress(json.dumps(event).encode()))
    own = next(each for each in kernels_of(captured.folder) if each.file.kernel == "sum_kernel")
    (tmp_path / "kernel.cubin").write_bytes(base64.b64decode(own.captured.stages["cubin"]))
    printed = run_documented(block + archive.replace("python ", f"{sys.executable} "), tmp_path, server)
    addresses = [url.rpartition("/")[2] for url in printed.splitlines()]
    sessions = [server.get(f"/api/v1/sessions/{each}") for each in addresses]
    assert [len(each["kernels"]) for each in sessions] == [3, 3, 1, 3, 1, 1, 3]
    _, _, file, _, header, url = shlex.split(request.replace("\\\n", " "))
    body = (tmp_path / file.removeprefix("@")).read_bytes()
    url = url.replace("http://127.0.0.1:8000", server.url)
    sent = urllib.request.Request(url, body, dict([header.split(": ")]))
    with urllib.request.urlopen(sent) as answer:
        assert len(json.load(answer)["kernels"]) == 3


def test_the_documented_commands_disassemble_a_cubin(server, tmp_path):
    text = (ROOT / "docs/edits.md").read_text(encoding="utf-8").partition("## Disassemble a cubin")[2]
    (tmp_path / "kernel.py").write_text(find_example("vector_add").source)
    commands = text.split("```sh\n")[1].split("```")[0]
    *printed, address = run_documented(commands, tmp_path, server).splitlines()
    assert printed[0] == "add_kernel:"
    assert any("FADD" in line for line in printed)
    assert json.loads(printed[-1])["registers"] > 0
    (row,) = server.get(f"/api/v1/sessions/{address.rpartition('/')[2]}")["kernels"]
    assert (row["kernel"], row["target"]) == ("add_kernel", "cuda:90")
