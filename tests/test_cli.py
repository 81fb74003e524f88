"""The command line, as a process of its own where it compiles."""

import html
import json
import os
import pty
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.cli_tools import format_diagnostic
from explorer.model import Diagnostic
from explorer.pipeline.targets import TARGETS
from explorer.settings import settings_table

KERNEL = """\
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)
"""
VECTOR_ADD = Path(__file__).parents[1] / "explorer/examples/vector_add.py"
SIGNATURE = "*fp32:16, *fp32:16, i32:16, 256"


@pytest.fixture
def kernel(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL)
    return path


def run(*arguments, **options):
    command = [sys.executable, "-m", "explorer", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment, **options
    )


def test_a_stage_is_printed(kernel):
    result = run("compile", kernel, "--signature", SIGNATURE, "--stage", "ttgir")
    assert result.returncode == 0, result.stderr
    assert "ttg.num-warps" in result.stdout
    assert "\x1b" not in result.stdout


def test_what_a_pass_has_changed_is_printed(kernel):
    listed = run("compile", kernel, "--signature", SIGNATURE, "--json")
    passes = json.loads(listed.stdout)["passes"]
    layouts = next(each for each in passes if each["name"] == "convert-triton-to-tritongpu")
    result = run("compile", kernel, "--signature", SIGNATURE, "--pass", layouts["index"])
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("--- before\n+++ after\n")
    added = [line for line in result.stdout.splitlines() if line.startswith("+")]
    assert any(line.startswith("+#blocked = #ttg.blocked<") for line in added)
    assert len(added) - 1 == layouts["lines_added"]
    missing = run("compile", kernel, "--signature", SIGNATURE, "--pass", 999)
    assert missing.returncode == 1
    assert "no pass 999" in missing.stderr


def test_all_stages_are_written(kernel, tmp_path):
    folder = tmp_path / "out"
    result = run("compile", kernel, "--signature", SIGNATURE, "--num-warps", 2, "--output", folder)
    assert result.returncode == 0, result.stderr
    document = json.loads((folder / "result.json").read_text())
    assert document["status"] == "complete"
    assert document["request"]["options"] == {"num_warps": 2}
    for row in document["stages"] + document["passes"]:
        assert (folder / row["url"]).is_file()
    assert 'ttg.num-warps" = 2' in (folder / "ttgir.ttgir").read_text()


def test_a_page_is_written(kernel, tmp_path):
    file = tmp_path / "result.html"
    result = run("compile", kernel, "--signature", SIGNATURE, "--html", file)
    assert result.returncode == 0, result.stderr
    assert result.stderr.splitlines()[-1] == f"Written: {file}"
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "default-src 'none'" in html.unescape(page.partition("<style")[0])


def test_the_document_is_printed(kernel):
    result = run("compile", kernel, "--signature", SIGNATURE, "--target", "gfx942", "--json")
    document = json.loads(result.stdout)
    assert document["target"]["name"] == "hip:gfx942"
    assert document["stages"][-1]["name"] == "amdgcn"


def test_an_error_is_printed_as_compilers_do(kernel):
    kernel.write_text(KERNEL.replace("tl.arange(0, BLOCK)", "tl.arange(0, 100)"))
    result = run("compile", kernel, "--signature", SIGNATURE, "--stage", "ast")
    assert result.returncode == 1
    assert f"{kernel}:7:" in result.stderr
    assert ": error: " in result.stderr
    assert "FunctionDef" in result.stdout


def test_kernels_and_launches_are_listed(kernel):
    document = json.loads(run("inspect", kernel).stdout)
    assert [found["name"] for found in document["kernels"]] == ["copy_kernel"]
    assert document["launches"] == []


def test_a_terminal_gets_colours(kernel):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "explorer", "compile", str(kernel), "--signature", SIGNATURE]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
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


def test_a_run_is_summarised(tmp_path):
    result = run("profile", VECTOR_ADD, "--device", "interpreter")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("add_kernel interpreter, Triton ")
    assert "output_ptr matches" in result.stdout
    assert "loaded 8 MB" in result.stdout


def test_a_run_is_written_as_files_and_as_json(tmp_path):
    folder = tmp_path / "run"
    measures = ("--device", "interpreter", "--measure", "check", "--size", "size=4096", "--benchmark")
    result = run("profile", VECTOR_ADD, *measures, "--output", folder)
    assert result.returncode == 0, result.stderr
    document = json.loads((folder / "run.json").read_text())
    assert document["run"]["sizes"] == {"size": 4096}
    assert {row["name"] for row in document["measurements"]} >= {"check", "launch"}
    for row in document["measurements"]:
        assert (folder / row["url"]).is_file()
    printed = json.loads(run("profile", VECTOR_ADD, *measures, "--json").stdout)
    assert printed["measured"]["check"]["outputs"][0]["matches"]
    assert printed["measured"]["launch"]["arguments"][0]["shape"] == [4096]


def test_a_kernel_that_is_wrong_is_told_with_its_worst_element(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(VECTOR_ADD.read_text().replace("x + y, mask=mask)", "x + y + (x > 3), mask=mask)"))
    result = run("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert "output_ptr DIFFERS" in result.stdout
    assert "worst at [" in result.stdout


def test_a_result_that_is_no_number_is_told_in_words(tmp_path):
    wrong = tmp_path / "wrong.py"
    nowhere = VECTOR_ADD.read_text().replace(
        "x + y, mask=mask)", 'tl.where(x > 3, float("nan"), x + y), mask=mask)'
    )
    wrong.write_text(nowhere)
    result = run("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert re.search(r"worst at \[\d+\]: NaN or infinite, should be \d", result.stdout), result.stderr


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")
def test_recordings_need_a_gpu(tmp_path):
    result = run("record", "vector_add", "--output", tmp_path)
    assert result.returncode == 1
    assert "Recordings are made on a machine with a GPU" in result.stderr
    assert "no 'nothing'. It has vector_add" in run("record", "nothing").stderr


def test_a_file_that_is_not_there_is_named(capsys, tmp_path):
    result = run("compile", tmp_path / "nothing.py")
    assert result.returncode == 1
    assert "nothing.py cannot be read" in result.stderr


@pytest.mark.parametrize("option", ["--output", "--html"])
def test_a_place_where_nothing_can_be_written_is_named_before_anything_is_done(kernel, option):
    result = run("compile", kernel, "--signature", SIGNATURE, option, kernel / "folder" / "file")
    assert result.returncode == 1
    assert "cannot be made a folder" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_target_is_answered_with_the_list(kernel):
    result = run("compile", kernel, "--target", "cuda:1")
    assert result.returncode == 1
    assert "cuda:90" in result.stderr


def test_targets_settings_and_version_are_printed(capsys):
    assert main(["targets"]) == 0
    targets = capsys.readouterr().out
    assert all(target.name in targets for target in TARGETS)
    assert main(["settings"]) == 0
    assert capsys.readouterr().out == settings_table()
    assert main(["version"]) == 0
    assert capsys.readouterr().out.strip() == version("triton-explorer")


@pytest.mark.parametrize(
    ("diagnostic", "text"),
    [
        (Diagnostic("error", "bad", line=12, column=5), "k.py:12:5: error: bad"),
        (Diagnostic("warning", "odd", line=12), "k.py:12: warning: odd"),
        (Diagnostic("note", "so", hint="do this"), "k.py: note: so\nk.py: note: do this"),
    ],
)
def test_diagnostics_look_like_a_compilers(diagnostic, text):
    assert format_diagnostic(diagnostic, "k.py") == text


def test_what_llvm_does_is_printed(kernel):
    index = json.loads(run("compile", kernel, "--signature", SIGNATURE, "--llvm-passes", "--json").stdout)
    changed = [each for each in index["passes"] if each["changed"] and each["stage"] == "llir"]
    assert changed
    result = run("compile", kernel, "--signature", SIGNATURE, "--llvm-passes", "--pass", changed[-1]["index"])
    assert result.returncode == 0
    assert any(line.startswith(("+", "-")) for line in result.stdout.splitlines())


def test_words_are_explained():
    explained = run("explain", "ttg.convert_layout")
    assert explained.returncode == 0 and explained.stdout.startswith("mlir: ")
    unknown = run("explain", "no.such_operation")
    assert unknown.returncode == 1 and "'no.such_operation'" in unknown.stderr
