"""Test `bisect` with a running server: the gallery's matmul, which has more instructions in newer versions.

Checked by hand: Triton 3.7.1 and later insert a fence before the matrix product reads shared memory, one
`fence_async_shared` in TTGIR and one FENCE.VIEW.ASYNC in SASS, which Triton 3.6.0 has not.
"""

import json
import re
import shlex
import urllib.request

import pytest
from served import ROOT
from sources import STAGED

from explorer.cli.main import main
from explorer.sandbox.versions import installed_versions

pytestmark = pytest.mark.slow
MATMUL = ROOT / "explorer/examples/matmul.py"
ENDS = ("--good", "3.6.0", "--bad", "3.9.0")


@pytest.fixture
def bisect(server, monkeypatch, capsys, tmp_path):
    """Run the command with two installed versions. Return its status and its output."""
    monkeypatch.setenv("TRITON_EXPLORER_SERVER", server.url)
    only = {version: path for version, path in installed_versions().items() if version in ENDS}
    for module in ("explorer.tritons", "explorer.cli.bisect"):
        monkeypatch.setattr(f"{module}.installed_versions", lambda tritons_dir: only)

    def bisect(*options, file=MATMUL):
        status = main(["bisect", str(file), *options])
        return status, capsys.readouterr().out

    return bisect


def test_the_first_version_with_more_instructions_is_found_with_the_pass(bisect, server):
    status, printed = bisect(*ENDS, "--metric", "instructions", "--json")
    result = json.loads(printed)
    assert status == 0
    assert (result["last_good"], result["first_worse"]) == ("3.6.0", "3.9.0")
    assert result["missing"] == ["3.7.0", "3.7.1", "3.8.0"]
    assert [(each["triton"], each["value"], each["is_worse"]) for each in result["versions"]] == [
        ("3.6.0", 656, False),
        ("3.9.0", 664, True),
    ]
    found = result["divergence"]
    assert found["first_different"]["name"] == "triton-nvidia-gpu-fence-insertion"
    assert found["first_different"]["before"]["changed"] is False
    assert found["added"] == ["ttng.fence_async_shared {bCluster = false}"]
    assert (found["stage"], found["removed"]) == ("ttgir", [])
    texts = []
    for each in result["versions"]:
        assert each["url"] == f"{server.url}/k/{each['id']}"
        with urllib.request.urlopen(f"{server.url}/api/v1/compilations/{each['id']}/stages/ttgir") as text:
            texts.append(text.read().decode())
    assert [text.count("fence_async_shared") for text in texts] == [0, 1]
    with urllib.request.urlopen(result["compare"]) as page:
        assert page.status == 200


def test_the_example_of_the_documentation_is_printed_as_text(bisect):
    document = (ROOT / "docs/toolchains.md").read_text(encoding="utf-8")
    command = re.search(r"^triton-explorer bisect explorer/examples/matmul\.py (.*)$", document, re.M)[1]
    shown = re.search(r"```text\n(.*?)```", document, re.S)[1].splitlines()
    status, printed = bisect(*shlex.split(command))
    assert status == 0
    lines = printed.splitlines()
    assert lines[0] == shown[0]
    assert [line.split()[:2] for line in lines[1:3]] == [line.split()[:2] for line in (shown[1], shown[4])]
    assert "Triton 3.9.0 is the first version that is worse than 3.6.0: instructions 664 after 656." in lines
    assert "`triton-explorer toolchain add 3.7.0 3.7.1 3.8.0`" in printed
    assert shown[-1] in lines
    assert lines[-1].startswith("Compare: http://")


def test_a_pattern_is_counted(bisect):
    status, printed = bisect(*ENDS, "--metric", r"ttgir:\bttng\.fence", "--threshold", "0")
    assert status == 0
    assert "first version that is worse than 3.6.0: ttgir:\\bttng\\.fence 1 after 0." in printed


@pytest.mark.parametrize(
    "options",
    [
        (*ENDS, "--metric", "registers"),
        (*ENDS, "--metric", "instructions", "--threshold", "5%"),
        (*ENDS, "--metric", "instructions", "--fewer"),
        ("--good", "3.9.0", "--bad", "3.6.0", "--metric", "instructions"),
    ],
    ids=" ".join,
)
def test_a_version_that_is_not_worse_is_said(bisect, options):
    status, printed = bisect(*options)
    assert status == 1
    assert printed.endswith(f"Triton {options[3]} is not worse than {options[1]}.\n")


@pytest.mark.nightly
def test_a_version_with_which_a_kernel_does_not_fit_has_its_number(bisect, tmp_path):
    script = tmp_path / "script.py"
    stages = '3 if triton.__version__.startswith("3.6.") else 8'
    body = STAGED.replace("num_stages=3", "num_stages=STAGES")
    script.write_text(f"import triton\nSTAGES = {stages}\n{body}")
    status, printed = bisect(*ENDS, "--metric", "shared_bytes", "--json", file=script)
    good, bad = json.loads(printed)["versions"]
    assert (status, good["error"]) == (0, None)
    assert f"needs {bad['value']:,} bytes of shared memory" in bad["error"]
    assert bad["is_worse"] and bad["value"] > good["value"]


def test_a_version_that_is_missing_is_said_before_anything_is_compiled(bisect, capsys):
    assert main(["bisect", str(MATMUL), "--good", "3.7.0", "--bad", "3.9.0", "--metric", "registers"]) == 1
    assert "Triton 3.7.0 is not installed. Add it with --install" in capsys.readouterr().err
    assert main(["bisect", str(MATMUL), "--good", "3.5.1", "--bad", "3.9.0", "--metric", "registers"]) == 1
    assert "Triton 3.5.1 is older than 3.6, which is needed." in capsys.readouterr().err


def test_a_metric_that_does_not_exist_is_refused_with_the_list(bisect, capsys):
    for metric, words in {
        "speed": "registers, scalar_registers",
        "tgir:x": "known are ast",
        "ttgir:(": "regular",
    }.items():
        with pytest.raises(SystemExit):
            main(["bisect", str(MATMUL), *ENDS, "--metric", metric])
        assert words in capsys.readouterr().err
