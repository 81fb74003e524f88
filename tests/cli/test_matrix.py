"""Test `matrix` with the example of its documentation, asked of a running server."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.cli.main import main
from explorer.cli.matrix import _value

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs/matrix.md").read_text(encoding="utf-8")


def run(server, *arguments):
    """Run the command of the documentation, with further options."""
    command = re.search(r"```sh\ntriton-explorer (.*)\n```", DOCUMENT)[1]
    return subprocess.run(
        [sys.executable, "-m", "explorer", *shlex.split(command), *arguments],
        cwd=ROOT,
        env={**os.environ, "TRITON_EXPLORER_SERVER": server.url},
        capture_output=True,
        text=True,
        timeout=240,
    )


@pytest.mark.nightly
def test_the_example_of_the_documentation_prints_a_row_for_each_cell(server):
    printed = run(server)
    assert (printed.returncode, printed.stderr) == (0, "")
    rows = [line.strip("| \n").split(" | ") for line in printed.stdout.splitlines()]
    assert [row[1:3] for row in rows[2:]] == [["cuda:80", "3.9.0"], ["cuda:90", "3.9.0"]] * 2
    assert [re.sub(r"\(.*", "", row[0]) for row in rows[2:]] == [
        r"[num\_warps=4]", r"[num\_warps=4]", r"[num\_warps=8]", r"[num\_warps=8]"
    ]  # fmt: skip
    page = re.search(r"\((http://.*?)\)", rows[2][0])[1]
    assert page.startswith(f"{server.url}/k/")
    shown = re.findall(r"^\| num\\_warps=4 \| cuda:80 \| 3.9.0 \| (\d+) \|$", DOCUMENT, re.MULTILINE)
    assert shown == [rows[2][3]]
    table = run(server, "--format", "csv").stdout
    assert [row["registers"] for row in csv.DictReader(io.StringIO(table))] == [row[3] for row in rows[2:]]
    document = json.loads(run(server, "--format", "json").stdout)
    assert next(cell["url"] for cell in document["cells"]) == page.removeprefix(server.url)


def test_lists_that_do_not_fit_are_refused(capsys):
    example = str(ROOT / "explorer/examples/softmax.py")
    assert main(["matrix", example, "--configs", "all", "--num-warps", "4"]) == 1
    assert "cannot be combined" in capsys.readouterr().err
    assert main(["matrix", example, "--configs", "all", "--constant", "BLOCK=64"]) == 1
    assert "cannot be combined" in capsys.readouterr().err
    for wrong, message in (
        (("--num-warps", "four"), "'four' is not a list of numbers"),
        (("--constant", "BLOCK"), "'BLOCK' is not a name with values"),
        (("--constant", "BLOCK=64,"), "'BLOCK=64,' is not a name with values"),
    ):
        with pytest.raises(SystemExit):
            main(["matrix", example, *wrong])
        assert message in capsys.readouterr().err


@pytest.mark.nightly
def test_values_of_constants_and_options_are_combined(server):
    constants = ("--constant", "BLOCK_SIZE=2048,4096", "--option", "enable_fp_fusion=True,False")
    printed = run(server, *constants, "--targets", "cuda:90", "--num-warps", "8", "--format", "json")
    assert (printed.returncode, printed.stderr) == (0, "")
    document = json.loads(printed.stdout)
    assert [each["settings"] for each in document["configurations"]] == [
        {"BLOCK_SIZE": size, "num_warps": 8, "enable_fp_fusion": is_fused}
        for size in (2048, 4096)
        for is_fused in (True, False)
    ]
    assert all(cell["state"] == "complete" for cell in document["cells"])
    small, large = (document["cells"][index]["metrics"]["instructions"] for index in (0, 2))
    assert small < large  # the values have reached the compiler


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--constant", "NOPE=1"], "softmax_kernel has no constexpr argument 'NOPE'. It has BLOCK_SIZE."),
        (["--option", "nope=1"], "Unknown compiler option 'nope'. Known options: "),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_names(server, given, message):
    printed = run(server, *given)
    assert printed.returncode == 1
    assert f": failed: {message}" in printed.stderr


def test_texts_that_are_no_finite_numbers_stay_texts():
    texts = ("inf", "-Infinity", "nan", "1_0", "1e999", "tf32")
    assert [_value(each) for each in texts] == list(texts)
    assert [_value(each) for each in ("-3", "1e-3", "True", "None")] == [-3, 0.001, True, None]
    assert isinstance(_value("64"), int)
