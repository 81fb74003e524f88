"""Test `replay` with a captured program, a kernel that one version refuses, and a damaged capture."""

import csv
import io
import json
import re
import shutil

import pytest
from served import ROOT

from explorer.cli.main import main
from explorer.cli.replay import Replayed, csv_table, markdown_table, ranked
from explorer.model.metrics import find_metric

TRITONS = ["3.6.0", "3.9.0"]
DOCUMENT = (ROOT / "docs/toolchains.md").read_text(encoding="utf-8")
#: A kernel that only newer versions compile.
NEWER = """
import torch
import triton
import triton.language as tl

IS_NEW = tl.constexpr(triton.__version__ >= "3.9")


@triton.jit
def newer_kernel(x_ptr):
    tl.static_assert(IS_NEW, "too old")
    tl.store(x_ptr, 1)


newer_kernel[(1,)](torch.empty(1, device="cuda"))
"""


@pytest.mark.nightly
@pytest.mark.slow
def test_a_capture_is_ranked_and_what_has_no_result_says_why(captured, server, tmp_path, monkeypatch, capsys):
    shutil.copytree(captured.folder, tmp_path / "kernels")
    (tmp_path / "kernels/kernels/torn.json").write_text("{")
    (tmp_path / "newer.py").write_text(NEWER)
    (tmp_path / "broken.py").write_text("import triton\nraise ValueError('no such model')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
    paths = ["kernels", "newer.py", "broken.py"]
    assert main(["replay", *paths, "--tritons", ",".join(TRITONS), "--format", "json"]) == 1
    printed = capsys.readouterr()
    assert printed.err == "6 kernels: 3 failed, 2 same, 1 better.\n"
    document = json.loads(printed.out)
    assert [document["before"], document["after"]] == TRITONS
    rows = document["kernels"]
    assert [re.sub(r"\(.*", "", row["kernel"]) for row in rows] == [
        "newer_kernel", "sum_kernel", "scale_kernel", "scale_kernel", "", "kernels/torn.json"
    ]  # fmt: skip
    newer, total, _, _, broken, torn = rows
    assert newer["before"] is None and newer["after"]["registers"] > 0
    assert newer["message"].startswith("Triton 3.6.0: ") and "too old" in newer["message"]
    assert "no such model" in broken["message"] and torn["message"]
    assert total["state"] == "better" and total["compare"].startswith(f"{server.url}/compare/")

    assert main(["replay", "kernels", "--tritons", ",".join(TRITONS)]) == 1
    head, cells = re.search(r"^\| (sum.*?) \| cuda:90 \| (.*) \| .*? \|$", DOCUMENT, re.M).groups()
    shown = next(line for line in capsys.readouterr().out.splitlines() if "sum" in line)
    assert f"[{head}]({total['compare']}) | cuda:90 | {cells} |" in shown

    assert main(["push", str(captured.folder), "--to", server.url, "--title", "kernels", "--no-compile"]) == 0
    session = capsys.readouterr().out.strip()
    assert main(["replay", "--session", session, "--tritons", ",".join(TRITONS), "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)["kernels"]
    # The compilations equal the capture's. The names have all options of the launch.
    assert sorted(each["compare"] for each in again) == sorted(each["compare"] for each in rows[1:4])
    assert again[0]["kernel"].startswith(total["kernel"].removesuffix("num_warps=8]"))


def row(kernel, before, after, **fields):
    return Replayed("a.py", kernel, "cuda:90", before, after, **fields)


ROWS = [
    row("same", {"registers": 32}, {"registers": 32}),
    row("none", None, None, message="The script fails."),
    row("fewer", {"registers": 80, "spills": 0}, {"registers": 40, "spills": 0}),
    row("spilling", {"registers": 32, "spills": 0}, {"registers": 32, "spills": 8}),
    row("slower", {"registers": 32, "compile_milliseconds": 1}, {"registers": 33, "compile_milliseconds": 9}),
    row("refused", {"registers": 32}, None, message="Triton 3.9.0: a|b"),
]


def test_the_greatest_change_is_first_or_that_of_the_named_metric():
    assert [each.kernel for each in ranked(ROWS)] == [
        "refused", "spilling", "fewer", "slower", "same", "none"
    ]  # fmt: skip
    assert [each.kernel for each in ranked(ROWS, find_metric("registers"))] == [
        "refused", "slower", "same", "spilling", "fewer", "none"
    ]  # fmt: skip
    assert [each.state for each in ROWS] == ["same", "failed", "better", "worse", "worse", "failed"]
    assert row("", {"registers": 8, "spills": 8}, {"registers": 9, "spills": 0}).state == "mixed"


def test_the_tables_have_both_numbers_and_the_reasons():
    lines = markdown_table(ROWS, TRITONS).splitlines()
    assert lines[0] == "Triton 3.9.0 after 3.6.0"
    by_kernel = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[2:4] for line in lines[4:]}
    assert by_kernel["fewer"] == ["80 → 40 (-50%)", "0"]
    assert by_kernel["spilling"] == ["32", "0 → 8"]
    assert by_kernel["refused"][0] == r"failed: Triton 3.9.0: a\|b"
    numbers = {each["kernel"]: each for each in csv.DictReader(io.StringIO(csv_table(ROWS, TRITONS)))}
    assert [numbers["spilling"][f"spills_{triton}"] for triton in TRITONS] == ["0", "8"]
    assert [numbers["none"][name] for name in ("state", "message")] == ["failed", "The script fails."]


def test_either_paths_or_a_session_are_needed(capsys):
    for names in ([], ["kernels", "--session", "http://127.0.0.1:8000/s/1"]):
        assert main(["replay", *names, "--tritons", ",".join(TRITONS)]) == 1
        assert "Name files or folders, or a session by --session URL." in capsys.readouterr().err


def test_other_than_two_versions_are_refused(capsys):
    for versions in ("3.9.0", "3.9.0,3.9.0", "3.6.0,3.8.0,3.9.0"):
        with pytest.raises(SystemExit, match="2"):
            main(["replay", "kernels", "--tritons", versions])
        assert "is not two versions such as 3.6.0,3.9.0" in capsys.readouterr().err
