"""Test the commands that compile and inspect: with a server, and without one."""

import argparse
import html
import http.server
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import pytest
from disassembled import Tools
from tritons import TRITONS

from explorer.cli.api import find_server
from explorer.cli.main import main
from explorer.documents.files import read_imported
from explorer.sandbox.versions import installed_versions

from .conftest import KERNEL, PYTHONPATH, ROOT, SIGNATURE, run

pytestmark = pytest.mark.slow


def without_times(text):
    """Leave out of result.json what two compilations of a kernel do not have in common."""
    document = json.loads(text)
    for part in (document, *document["stages"], *document["passes"]):
        part.pop("milliseconds")
    del document["created"], document["logs"]  # the assembler's log has its time
    return document


@pytest.mark.nightly
@pytest.mark.parametrize(
    "what",
    [
        [],
        ["--query", "scoreboards"],
        ["--triton", "1.0"],
    ],
    ids=lambda what: " ".join(map(str, what)) or "sass",
)
def test_the_output_does_not_depend_on_who_is_asked(kernel, server, what):
    before = server.is_asked
    asked = run("compile", kernel, "--signature", SIGNATURE, *what, server=server.url)
    assert (server.is_asked > before) == ("--triton" not in what)
    alone = run("compile", kernel, "--signature", SIGNATURE, *what)
    assert (asked.returncode, asked.stdout, asked.stderr) == (alone.returncode, alone.stdout, alone.stderr)
    assert asked.stdout or asked.stderr


@pytest.mark.nightly
def test_documents_and_files_do_not_depend_on_who_is_asked(kernel, server, tmp_path):
    results = []
    for number, url in enumerate((server.url, "none")):
        folder = tmp_path / str(number)
        run("compile", kernel, "--signature", SIGNATURE, "--output", folder, server=url)
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")}
        written = without_times(files.pop("result.json"))
        inspected = run("inspect", kernel, server=url).stdout
        results.append((written, files, inspected))
    assert results[0] == results[1]
    assert len(results[0][1]) > 10
    printed = run("compile", kernel, "--signature", SIGNATURE, "--json", server=server.url)
    assert without_times(printed.stdout) == results[0][0]


def test_the_server_is_found_by_its_data_folder(kernel, server, monkeypatch):
    monkeypatch.setenv("TRITON_EXPLORER_DATA_DIR", str(server.folder))
    before = server.is_asked
    found = run("compile", kernel, "--signature", SIGNATURE, "--stage", "ttir", server="")
    assert found.returncode == 0 and "tt.load" in found.stdout
    assert server.is_asked == before + 1
    # Whether it can run without a sandbox depends on the user that runs the tests.
    run("compile", kernel, "--signature", SIGNATURE, "--unsafe-no-sandbox", server="")
    assert server.is_asked == before + 1


class Stranger(http.server.BaseHTTPRequestHandler):
    """Answers as another version would, or fails after the greeting."""

    greeting: ClassVar[dict[str, object]] = {}
    refusal = 503

    def do_GET(self):
        body = json.dumps(self.greeting).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.refusal)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_server_that_starts_is_waited_for(monkeypatch):
    healthy: dict[str, object] = {
        "status": "ok",
        "version": version("triton-explorer"),
        "tritons": list(installed_versions()),
    }
    greetings = [{**healthy, "status": "starting", "tritons": []}] * 3 + [healthy]
    asked = []

    class Starting(Stranger):
        def do_GET(self):
            asked.append(self.path)
            Starting.greeting = greetings[len(asked) - 1]
            super().do_GET()

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Starting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("TRITON_EXPLORER_SERVER", url)
        assert find_server(None, argparse.Namespace(unsafe_no_sandbox=False)) == url
        server.shutdown()
    assert asked == ["/healthz"] * 4


@pytest.mark.parametrize(
    "who",
    [
        "nobody",
        "another program",
        *(
            pytest.param(each, marks=pytest.mark.nightly)
            for each in ("another version", "a server that fails", "a server that takes less")
        ),
    ],
)
def test_without_a_server_that_can_do_it_the_command_does_it(capfd, kernel, monkeypatch, who):
    healthy = {"status": "ok", "version": version("triton-explorer"), "tritons": list(installed_versions())}
    other = {"another program": {"hello": 1}, "another version": {**healthy, "version": "0.0"}}
    greeting = {"greeting": other.get(who, healthy), "refusal": 413 if "less" in who else 503}
    handler = type("Greeting", (Stranger,), greeting)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as stranger:
        monkeypatch.setenv("TRITON_EXPLORER_SERVER", f"http://127.0.0.1:{stranger.server_port}")
        if who != "nobody":
            threading.Thread(target=stranger.serve_forever, daemon=True).start()
        else:
            stranger.server_close()
        # The one of this process says it, before its sandbox has started.
        assert main(["compile", str(kernel), "--signature", SIGNATURE, "--target", "cuda:1"]) == 1
        if who != "nobody":
            stranger.shutdown()
    assert "Unknown target 'cuda:1'" in capfd.readouterr().err


def test_the_command_line_starts_without_the_server_s_libraries():
    """The time of a command that asks a server is that of its imports."""
    program = (
        "import sys; from explorer.cli.main import make_parser; import explorer.cli.api; make_parser();"
        "print({'flask', 'sqlalchemy', 'gunicorn', 'pygments'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_stage_is_printed(ask, kernel):
    result = ask("compile", kernel, "--signature", SIGNATURE, "--stage", "ttgir")
    assert result.returncode == 0, result.stderr
    assert "ttg.num-warps" in result.stdout
    assert "\x1b" not in result.stdout


def test_a_stage_that_is_not_reached_hides_no_error(ask, tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("import triton\n\nx = = 1\n")
    result = ask("compile", script, "--stage", "ttgir")
    assert result.returncode == 1
    assert f"{script}:3:5: error" in result.stderr


def test_an_error_of_the_script_beside_a_result_sets_the_exit_status(ask, kernel, tmp_path):
    script = tmp_path / "failing.py"
    script.write_text(f"{kernel.read_text()}\nraise ValueError('after the launches')\n")
    result = ask("compile", script, "--stage", "ttir")
    assert "after the launches" in result.stderr
    assert "tt.func" in result.stdout
    assert result.returncode == 1


def test_files_below_the_root_are_taken_along(ask, tmp_path):
    ops = tmp_path / "pkg/ops"
    ops.mkdir(parents=True)
    (tmp_path / "pkg/sizes.py").write_text("from pkg import names\nBLOCK = 64\n")
    (tmp_path / "pkg/names.py").write_text("NAME = 1\n")
    (tmp_path / "pkg/unrelated.py").write_text("raise ValueError\n")
    script = ops / "copy.py"
    launch = "x = torch.empty(64, device='cuda')\ncopy_kernel[(1,)](x, x, 64, BLOCK=BLOCK)\n"
    script.write_text(f"import torch\nfrom ..sizes import BLOCK\n{KERNEL}\n{launch}")
    done = ask("compile", script, "--root", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    request = json.loads(done.stdout)["request"]
    assert request["path"] == "pkg/ops/copy.py"
    assert set(request["files"]) == {"pkg/sizes.py", "pkg/names.py"}
    outside = ask("inspect", script, "--root", tmp_path / "pkg/other")
    assert outside.returncode == 1
    assert "is not in the folder" in outside.stderr


def test_modules_of_computed_names_are_taken_along(tmp_path):
    backend = tmp_path / "pkg/backend"
    backend.mkdir(parents=True)
    (backend / "__init__.py").write_text(
        "import importlib\ndef find(name):\n    return importlib.import_module(name)\n"
    )
    (backend / "_one.py").write_text("from pkg.shared import SIZE\n")
    (tmp_path / "pkg/shared.py").write_text("SIZE = 64\n")
    (tmp_path / "pkg/unrelated.py").write_text("raise ValueError\n")
    script = tmp_path / "script.py"
    script.write_text("from pkg import backend\n")
    _, files = read_imported(script, tmp_path)
    assert set(files) == {"pkg/backend/__init__.py", "pkg/backend/_one.py", "pkg/shared.py"}


def test_an_error_in_another_file_is_at_its_place(ask, tmp_path):
    (tmp_path / "tools.py").write_text("x = 1\nundefined_name\n")
    script = tmp_path / "script.py"
    script.write_text(f"import tools\n{KERNEL}")
    done = ask("inspect", script, "--root", tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path / 'tools.py'}:2:1: error: NameError" in done.stderr


def test_an_assumed_number_is_given(ask, tmp_path):
    script = tmp_path / "script.py"
    reads = "x = torch.empty(64, device='cuda')\nn = x.new_empty(4, dtype=torch.int32).sum().item()\n"
    script.write_text(f"import torch\n{KERNEL}\n{reads}copy_kernel[(1,)](x, x, n, BLOCK=64)\n")
    line = script.read_text().splitlines().index(reads.splitlines()[1]) + 1
    done = ask("inspect", script, "--assume", f"{line}=48")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [(each["line"], each["value"], each["is_given"]) for each in document["assumed"]] == [
        (line, 48, True)
    ]
    assert document["launches"][0]["arguments"][2]["value"] == 48
    wrong = ask("inspect", script, "--assume", "x=1")
    assert wrong.returncode == 2
    assert "not of the form LINE=NUMBER" in wrong.stderr


def test_a_script_gets_its_arguments(ask, tmp_path):
    script = tmp_path / "script.py"
    reads = "import sys, torch\nx = torch.empty(64, device='cuda')\nn = int(sys.argv[1])\n"
    script.write_text(f"{KERNEL}\n{reads}copy_kernel[(1,)](x, x, n, BLOCK=64)\n")
    done = ask("inspect", script, "--script-args", "48")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["launches"][0]["arguments"][2]["value"] == 48


def test_what_a_pass_has_changed_is_printed(ask, kernel):
    listed = ask("compile", kernel, "--signature", SIGNATURE, "--json")
    passes = json.loads(listed.stdout)["passes"]
    layouts = next(each for each in passes if each["name"] == "convert-triton-to-tritongpu")
    result = ask("compile", kernel, "--signature", SIGNATURE, "--pass", layouts["index"])
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("--- before\n+++ after\n")
    added = [line for line in result.stdout.splitlines() if line.startswith("+")]
    assert any(line.startswith("+#blocked = #ttg.blocked<") for line in added)
    assert len(added) - 1 == layouts["lines_added"]
    missing = ask("compile", kernel, "--signature", SIGNATURE, "--pass", 999)
    assert missing.returncode == 1
    assert "no pass 999" in missing.stderr


def test_the_documented_changes_of_a_compilation_work(ask, tmp_path):
    text = (ROOT / "docs/edits.md").read_text(encoding="utf-8")
    (tmp_path / "explorer").symlink_to(ROOT / "explorer")
    commands = text.split("```sh\n")[1].split("```")[0].replace("\\\n", "").splitlines()
    for command in commands:
        first, *words = shlex.split(command)
        if first in ("cp", "sed"):
            subprocess.run([first, *words], cwd=tmp_path, check=True)
            continue
        *arguments, _, output = words
        arguments = [word.replace("kernel.", f"{tmp_path}/kernel.", 1) for word in arguments]
        done = ask(*arguments)
        assert done.returncode == 0, done.stderr
        (tmp_path / output).write_text(done.stdout)
    assert "mul.f32" in (tmp_path / "edited.ptx").read_text()
    uncoalesced, edited = ((tmp_path / name).read_text() for name in ("uncoalesced.ttgir", "kernel.ttgir"))
    assert uncoalesced != edited.replace("arith.mulf", "arith.addf")
    assert "FADD" in (tmp_path / "other.sass").read_text()
    wrong = ask("compile", tmp_path / "kernel.py", "--pass-option", "x")
    assert wrong.returncode == 2
    assert "not of the form NAME:OPTION=VALUE" in wrong.stderr


def test_the_documented_commands_compile_the_text_of_a_stage(ask, tmp_path):
    text = (ROOT / "docs/edits.md").read_text(encoding="utf-8")
    (tmp_path / "kernel.py").write_text((ROOT / "explorer/examples/vector_add.py").read_text())
    for command in text.split("```sh\n")[2].split("```")[0].splitlines():
        _, *words = shlex.split(command.replace("kernel.", f"{tmp_path}/kernel."))
        arguments, output = (words[:-2], words[-1]) if ">" in words else (words, tmp_path / "kernel.sass")
        done = ask(*arguments)
        assert done.returncode == 0, done.stderr
        Path(output).write_text(done.stdout)
    assert "FADD" in (tmp_path / "kernel.sass").read_text()
    wrong = ask("compile", tmp_path / "kernel.ttgir", "--target", "cuda:80")
    assert wrong.returncode == 1
    assert "kernel.ttgir:" in wrong.stderr
    assert "The text is for cuda:90, not for cuda:80." in wrong.stderr


def test_a_kernel_of_a_cubin_is_disassembled(ask, tmp_path):
    cubin = tmp_path / "calls.cubin"
    Tools(TRITONS[0], 100).assemble("calls", tmp_path)
    shown = ask("compile", cubin, "--kernel", "first")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("first:\n.text.first:\nB")
    assert "second" not in shown.stdout
    for arguments, message in (
        ([], f"{cubin} has 2 kernels: second, first. Choose one with --kernel."),
        (["--kernel", "third"], f"{cubin} has no kernel 'third'. It has second, first."),
        (["--kernel", "first", "--target", "cuda:80"], f"{cubin} is for cuda:100, not for cuda:80."),
        (["--num-warps", "8"], f"{cubin} is a binary, which is not compiled. Leave out --num-warps."),
    ):
        refused = ask("compile", cubin, *arguments)
        assert refused.returncode == 1
        assert message in refused.stderr


def test_all_stages_are_written(ask, kernel, tmp_path):
    folder = tmp_path / "out"
    result = ask("compile", kernel, "--signature", SIGNATURE, "--num-warps", 2, "--output", folder)
    assert result.returncode == 0, result.stderr
    document = json.loads((folder / "result.json").read_text())
    assert document["status"] == "complete"
    assert document["request"]["options"] == {"num_warps": 2}
    for row in document["stages"] + document["passes"]:
        assert (folder / row["url"]).is_file()
    assert 'ttg.num-warps" = 2' in (folder / "ttgir.ttgir").read_text()


def test_a_page_is_written(ask, kernel, tmp_path):
    file = tmp_path / "result.html"
    result = ask("compile", kernel, "--signature", SIGNATURE, "--html", file)
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines()[-1] == f"Wrote {file}"
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in html.unescape(page.partition("<style")[0])


def test_the_document_is_printed(ask, kernel):
    result = ask("compile", kernel, "--signature", SIGNATURE, "--target", "gfx942", "--json")
    document = json.loads(result.stdout)
    assert document["target"]["name"] == "hip:gfx942"
    assert document["stages"][-1]["name"] == "amdgcn"


def test_an_error_is_printed_as_compilers_do(ask, kernel):
    kernel.write_text(KERNEL.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)"))
    result = ask("compile", kernel, "--signature", SIGNATURE, "--stage", "ast")
    assert result.returncode == 1
    assert f"{kernel}:7:" in result.stderr
    assert ": error: " in result.stderr
    assert "FunctionDef" in result.stdout


def test_guesses_are_printed_with_their_reasons_and_what_to_type(ask, kernel):
    result = ask("compile", kernel, "--stage", "ttir")
    assert result.returncode == 0
    *guesses, choose = [
        line.removeprefix(f"{kernel}: note: ") for line in result.stderr.splitlines() if ": note: " in line
    ]
    assert guesses
    assert all(re.match(r"\w+ is guessed: [^ ]+\. \w.*\.$", each) for each in guesses)
    prefix = "to choose the arguments, change --signature "
    assert choose.startswith(prefix)
    again = ask(
        "compile", kernel, "--stage", "ttir", "--signature", *shlex.split(choose.removeprefix(prefix))
    )
    assert (again.stdout, again.stderr) == (result.stdout, "")


@pytest.mark.nightly
def test_a_failure_names_the_version_that_compiles(ask, kernel):
    kernel.write_text(
        KERNEL.replace("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK) + tl.sum(tl.arange(0, BLOCK))[:]")
    )
    result = run("compile", kernel, "--signature", SIGNATURE, "--triton", "3.9.0", "--stage", "ast")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == f"{kernel}: note: no error with --triton 3.6.0"
    assert ask("compile", kernel, "--signature", SIGNATURE, "--triton", "3.6.0").returncode == 0


def test_kernels_and_launches_are_listed(ask, kernel):
    document = json.loads(ask("inspect", kernel).stdout)
    assert [found["name"] for found in document["kernels"]] == ["copy_kernel"]
    assert document["launches"] == []


def test_a_terminal_gets_colours(kernel, server):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "explorer", "compile", str(kernel), "--signature", SIGNATURE]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "TRITON_EXPLORER_SERVER": server.url}
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE, env=environment) as process:
        os.close(theirs)
        output = b""
        try:
            while data := os.read(ours, 65536):
                output += data
        except OSError:  # the terminal is closed
            pass
        process.stderr.read()
    os.close(ours)
    assert b"\x1b[" in output
    assert b"EXIT" in output


def test_what_llvm_does_is_printed(ask, kernel):
    index = json.loads(ask("compile", kernel, "--signature", SIGNATURE, "--llvm-passes", "--json").stdout)
    changed = [each for each in index["passes"] if each["changed"] and each["stage"] == "llir"]
    assert changed
    result = ask("compile", kernel, "--signature", SIGNATURE, "--llvm-passes", "--pass", changed[-1]["index"])
    assert result.returncode == 0
    assert any(line.startswith(("+", "-")) for line in result.stdout.splitlines())


TWO_LAUNCHES = f"""import torch
{KERNEL}
@triton.jit
def zero_kernel(x_ptr):
    tl.store(x_ptr, 0.0)

x = torch.empty(4096, device="cuda")
copy_kernel[(16,)](x, x, 4096, BLOCK=256)
zero_kernel[(1,)](x)
copy_kernel[(8,)](x, x, 4096, BLOCK=512)
"""


def test_the_other_launches_of_a_file_are_named(ask, tmp_path):
    (tmp_path / "kernel.py").write_text(TWO_LAUNCHES)
    first = ask("compile", tmp_path / "kernel.py", "--findings")
    assert (
        "note: launch 0 (copy_kernel) is compiled. 2 other launches: --launch 1 (zero_kernel), "
        "--launch 2 (copy_kernel)\n"
    ) in first.stderr
    assert re.search(r"\d+ of \d+ rules were checked for the kernel copy_kernel\.", first.stdout)
    own = ask("compile", tmp_path / "kernel.py", "--findings", "--kernel", "copy_kernel")
    assert "1 other launch: --launch 2 (copy_kernel)\n" in own.stderr
    for chosen in (["--launch", "1"], ["--kernel", "zero_kernel"]):
        log = ask("compile", tmp_path / "kernel.py", "--findings", "sarif", *chosen)
        assert "other launch" not in log.stderr
        (run_,) = json.loads(log.stdout)["runs"]
        assert run_["invocations"] == [{"executionSuccessful": True}]
        for rule in run_["tool"]["driver"]["rules"]:
            assert rule["fullDescription"]["text"].endswith(".") and rule["help"]["text"]


def test_a_failed_compilation_has_a_log_of_sarif(ask, kernel):
    kernel.write_text(KERNEL.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)"))
    failed = ask("compile", kernel, "--signature", SIGNATURE, "--findings", "sarif")
    assert failed.returncode == 1
    (run_,) = json.loads(failed.stdout)["runs"]
    assert run_["invocations"] == [{"executionSuccessful": False}]
    assert "power of 2" in run_["results"][0]["message"]["text"]


def test_the_last_stage_comes_with_the_figures_of_the_kernel(ask, kernel):
    printed = ask("compile", kernel, "--signature", SIGNATURE)
    assert re.fullmatch(
        r"copy_kernel, cuda:90, Triton [\d.]+\n"
        r"\d+ registers, 0 bytes spilled, 0 bytes of shared memory, occupancy \d+%, limited by .+\n",
        printed.stderr,
    )
    stage = ask("compile", kernel, "--signature", SIGNATURE, "--stage", "sass")
    assert (stage.stdout, stage.stderr) == (printed.stdout, "")
