"""Test `check` with kernels of the gallery, their committed baseline, and a running server."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from explorer.cli.baseline import Checked, Entry, compare, read_baseline, status, updated, write_baseline
from explorer.cli.check_reports import github_commands, junit, markdown, text_lines
from explorer.cli.main import main
from explorer.cli.metrics import Threshold
from explorer.errors import InvalidRequest

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/check.md").read_text(encoding="utf-8")
SOFTMAX = (ROOT / "explorer/examples/softmax.py").read_text(encoding="utf-8")
KEY = ("a.py", "kernel", "cuda:90")


@pytest.fixture
def check(server, monkeypatch, capsys):
    """Run the command. Return its status and its output."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)

    def check(*options):
        status = main(["check", *map(str, options)])
        return status, capsys.readouterr().out

    return check


@pytest.mark.slow
def test_the_documented_part_of_the_gallery_is_as_in_the_baseline(check, monkeypatch):
    monkeypatch.chdir(ROOT)
    command = re.search(r"^triton-explorer check (explorer/.*)$", DOCUMENT, re.M)[1]
    assert check(*shlex.split(command)) == (0, "2 compilations: 2 not worse.\n")


@pytest.mark.slow
def test_a_worse_kernel_is_reported_everywhere_and_then_accepted(check, server, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script, baseline = tmp_path / "softmax.py", tmp_path / "kernels.lock.json"
    assert SOFTMAX.count("num_warps=4") == 1
    script.write_text(SOFTMAX.replace("num_warps=4", "num_warps=1"))
    known = json.loads((ROOT / "kernels.lock.json").read_text())["scripts"]["explorer/examples/softmax.py"]
    known = {"softmax_kernel": {"cuda:90": known["softmax_kernel"]["cuda:90, Triton 3.9.0"]}}
    baseline.write_text(json.dumps({"version": 1, "scripts": {"softmax.py": known}}))
    summary, cases, file = tmp_path / "summary.md", tmp_path / "junit.xml", tmp_path / "report.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    status, printed = check(".", "--github", "--junit", cases, "--markdown", file)
    assert status == 1
    shown = re.search(r"^softmax.py:\d+: worse: .*: (registers .*)$", DOCUMENT, re.M)
    lines = printed.splitlines()
    page = re.fullmatch(re.escape(shown[0]) + rf" ({re.escape(server.url)}/k/\w+)", lines[0])[1]
    assert lines[1] == "1 compilation: 1 worse."
    place = f"::error file=softmax.py,line={shown[0].split(':')[1]},"
    assert lines[2].startswith(place) and lines[2].endswith(f"::{shown[1]}")
    assert summary.read_text() == f"before\n{file.read_text()}"
    assert (
        f"| [softmax.py: softmax\\_kernel]({page}) | cuda:90 | worse | registers | 30 | " in file.read_text()
    )
    (failure,) = ElementTree.parse(cases).iter("failure")
    assert failure.attrib["message"] == shown[1]

    assert check("softmax.py", "--update")[0] == 0
    assert check("softmax.py", "--threshold", "registers=0") == (0, "1 compilation: 1 not worse.\n")
    script.write_text(script.read_text().replace("tl.exp(", "tl.no_such_function("))
    status, printed = check("softmax.py")
    assert status == 2 and "no_such_function" in printed and "1 failed" in printed


def checked(metrics, **fields):
    return Checked(KEY, "a.py", 3, "3.9.0", metrics, **fields)


def rows_of(before, after, thresholds=None, **fields):
    baseline = {} if before is None else {KEY: Entry("3.6.0", before)}
    return list(compare(baseline, [checked(after, **fields)], thresholds or {}))


@pytest.mark.parametrize(
    ("before", "after", "state", "expected"),
    [
        ({"registers": 32, "occupancy": 0.5}, {"registers": 32, "occupancy": 0.5}, "same", 0),
        ({"registers": 32}, {"registers": 40}, "worse", 1),
        ({"registers": 32}, {"registers": 24}, "better", 0),
        ({"registers": 32, "spills": 0}, {"registers": 32}, "worse", 1),
        ({"occupancy": 0.5}, {"occupancy": 0.25}, "worse", 1),
        ({"registers": 32, "spills": 8}, {"registers": 33, "spills": 0}, "worse", 1),
        ({"instructions": 100}, {"instructions": 105}, "same", 0),
        ({"instructions": 100}, {"instructions": 106}, "worse", 1),
        (None, {"registers": 32}, "new", 0),
        ({"registers": 32}, None, "failed", 2),
        (None, None, "failed", 2),
    ],
)
def test_metrics_are_compared_in_their_direction_with_thresholds(before, after, state, expected):
    rows = rows_of(before, after, {"instructions": Threshold(share=0.05)})
    assert ([row.state for row in rows], status(rows)) == ([state], expected)


@pytest.mark.parametrize("before", [None, {"registers": 40}, {"registers": 32}])
def test_an_exact_check_accepts_no_difference(before):
    assert status(rows_of(before, {"registers": 32}), is_exact=True) == (before != {"registers": 32})


def test_a_metric_that_is_not_known_any_more_is_named():
    (line, _) = text_lines(rows_of({"registers": 32, "binary_bytes": 9}, {}))
    assert line == "a.py:3: worse: kernel, cuda:90: registers unknown after 32 (Triton 3.9.0 after 3.6.0)"


def test_more_findings_than_before_are_worse_and_are_printed():
    known, spills = Entry("3.9.0", {"spills": 0}, {"grid": 1}), {"spills": ["acc needs 512 registers."]}
    for before, after, state in (
        (known, spills, "worse"),
        (known, {}, "better"),
        (known, {"grid": ["7 are idle."]}, "same"),
        (known, None, "same"),
        (Entry("3.9.0", {"spills": 0}), spills, "same"),
    ):
        (row,) = rows = list(compare({KEY: before}, [checked({"spills": 0}, findings=after)], {}))
        assert row.state == state
    assert updated({}, rows)[KEY].findings == {"spills": 1}
    rows = list(compare({KEY: known}, [checked({"spills": 0}, findings=spills)], {}))
    assert list(text_lines(rows))[:2] == [
        "a.py:3: worse: kernel, cuda:90: findings.spills 1 after 0; better: findings.grid 0 after 1",
        "    acc needs 512 registers.",
    ]


@pytest.mark.slow
def test_findings_are_compared_if_they_are_asked_for(check, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, baseline = "copy_coalesced_strided.py", tmp_path / "kernels.lock.json"
    (tmp_path / name).write_text((ROOT / "explorer/examples" / name).read_text(encoding="utf-8"))
    assert check(name, "--findings", "warning", "--update")[0] == 0
    assert check(name, "--findings", "warning")[0] == 0
    text = baseline.read_text()
    assert '"sectors": 2' in text
    baseline.write_text(re.sub(r'"sectors": 2', '"sectors": 1', text))
    status, printed = check(name, "--findings", "warning")
    assert status == 1 and "findings.sectors 2 after 1" in printed and "of the sectors that it" in printed
    assert check(name)[0] == 0


def test_a_kernel_that_failed_before_may_fail_or_compile():
    failing = {KEY: Entry("3.9.0", None)}
    states = [
        row.state
        for each in (checked(None), checked({"spills": 0}), checked(None, is_final=False))
        for row in compare(failing, [each], {})
    ]
    assert states == ["failing", "better", "failed"]


def test_a_kernel_that_is_gone_fails_the_check_until_the_baseline_is_updated():
    baseline = {KEY: Entry("3.9.0", {"spills": 0}), ("b.py", "kernel", "cuda:90"): Entry("3.9.0", None)}
    rows = list(compare(baseline, [], {}, [KEY]))
    assert status(rows) == 1
    assert list(updated(baseline, rows)) == [("b.py", "kernel", "cuda:90")]


def test_an_entry_is_kept_if_the_failure_may_pass():
    baseline = {KEY: Entry("3.9.0", {"spills": 0})}
    for is_final, metrics in ((False, {"spills": 0}), (True, None)):
        rows = compare(baseline, [checked(None, is_final=is_final)], {})
        assert updated(baseline, rows)[KEY].metrics == metrics


def test_the_file_does_not_depend_on_the_order(tmp_path):
    entries = {(script, "kernel", "cuda:90"): Entry("3.9.0", {"spills": 0}) for script in ("b.py", "a.py")}
    first, second = tmp_path / "first", tmp_path / "second"
    write_baseline(first, entries)
    write_baseline(second, dict(reversed(entries.items())))
    assert first.read_text() == second.read_text()
    assert read_baseline(first) == entries


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "scripts": {}}', '{"version": 1}', "\xff"])
def test_a_damaged_baseline_is_refused(tmp_path, text):
    (tmp_path / "lock").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidRequest, match="--update"):
        read_baseline(tmp_path / "lock")


def test_what_a_script_says_is_text_in_every_report():
    key = ("a,b:c.py", "k", "cuda:90")
    message = "50% of\n::error::<b>|x|\x1b[31m"
    rows = list(compare({}, [Checked(key, "a,b:c.py", 1, "3.9.0", None, message)], {}))
    (command,) = github_commands(rows)
    assert command == (
        "::error file=a%2Cb%3Ac.py,line=1,title=Failed%3A k%2C cuda%3A90::50%25 of ::error::<b>|x|\\x1b[31m"
    )
    assert "\n" not in next(text_lines(rows))
    assert r"\<b\>\|x\|\\x1b\[31m" in markdown(rows)
    (error,) = ElementTree.fromstring(junit(rows)).iter("error")
    assert error.attrib["message"] == "50% of ::error::<b>|x|\\x1b[31m"


def test_what_cannot_be_checked_has_a_status_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernel.py").write_text("")
    assert main(["check", "kernel.py"]) == 2
    assert "There is no baseline kernels.lock.json. Write it with --update." in capsys.readouterr().err
    for option in ("registers", "speed=1", "registers=x"):
        with pytest.raises(SystemExit, match="2"):
            main(["check", "kernel.py", "--threshold", option])


@pytest.mark.slow
def test_the_documented_test_passes_and_a_kernel_that_is_worse_fails_it(server, tmp_path):
    plugin = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    text = re.search(r"```python\n(.*?)```", DOCUMENT, re.S)[1]
    second = text.replace("does_not_spill", "is_small").replace("<= 32", "<= 8")
    third = text.replace("does_not_spill", "fails").replace('target="cuda:90"', "config=7")
    file = tmp_path / "test_kernels.py"
    file.write_text("\n".join((text, second, third)))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", plugin["triton-explorer"], "--rootdir", tmp_path, file],
        cwd=ROOT,
        env={
            **os.environ,
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TRITON_EXPLORER_SERVER": server.url,
            "PYTHONPATH": str(ROOT),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert "registers=30" in done.stdout and "assert 30 <= 8" in done.stdout
