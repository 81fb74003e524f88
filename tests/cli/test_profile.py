"""Test the commands that run kernels, in Triton's interpreter, and record profiles."""

import json
import re
from pathlib import Path

import pytest

from .conftest import ROOT, run

pytestmark = pytest.mark.slow

VECTOR_ADD = ROOT / "explorer/examples/vector_add.py"
#: The same of fewer elements, which is sooner interpreted.
SHORT_VECTOR_ADD = VECTOR_ADD.read_text(encoding="utf-8").replace("(1_000_000,", "(10_000,")


def test_a_run_is_summarised(tmp_path):
    script = tmp_path / "short.py"
    script.write_text(SHORT_VECTOR_ADD)
    result = run("profile", script, "--device", "interpreter")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("add_kernel interpreter, Triton ")
    assert "output_ptr matches" in result.stdout
    assert "loaded 80 kB" in result.stdout


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
    assert printed["request"]["source"] == VECTOR_ADD.read_text()
    assert printed["measured"]["check"]["outputs"][0]["matches"]
    assert printed["measured"]["launch"]["arguments"][0]["shape"] == [4096]


def test_a_kernel_that_is_wrong_is_told_with_its_worst_element(tmp_path):
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SHORT_VECTOR_ADD.replace("x + y, mask=mask)", "x + y + (x > 3), mask=mask)"))
    result = run("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert "output_ptr DIFFERS" in result.stdout
    assert "worst at [" in result.stdout


def test_a_result_that_is_no_number_is_told_in_words(tmp_path):
    wrong = tmp_path / "wrong.py"
    nowhere = SHORT_VECTOR_ADD.replace(
        "x + y, mask=mask)", 'tl.where(x > 3, float("nan"), x + y), mask=mask)'
    )
    wrong.write_text(nowhere)
    result = run("profile", wrong, "--device", "interpreter", "--measure", "check")
    assert re.search(r"worst at \[\d+\]: NaN or infinite, should be \d", result.stdout), result.stderr


def test_a_measure_that_the_device_lacks_is_refused_before_anything_runs(tmp_path):
    script = tmp_path / "short.py"
    script.write_text(SHORT_VECTOR_ADD)
    result = run("profile", script, "--device", "interpreter", "--measure", "check", "--measure", "time")
    assert result.returncode == 1
    assert "time is measured on a GPU." in result.stderr
    assert "The interpreter has check, counts." in result.stderr
    result = run("profile", script, "--device", "gpu", "--measure", "counts")
    assert "add --device interpreter" in result.stderr


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a GPU")
def test_recordings_need_a_gpu(tmp_path):
    result = run("record", "vector_add", "--output", tmp_path)
    assert result.returncode == 1
    assert "Profiles are recorded on a machine with a GPU" in result.stderr
    assert "no example 'nothing'. It has vector_add" in run("record", "nothing").stderr
