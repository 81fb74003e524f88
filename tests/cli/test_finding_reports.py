"""Test the log of SARIF about files whose names are no addresses."""

from pathlib import Path

import pytest

from explorer.cli.finding_reports import Sarif
from explorer.model import Diagnostic
from explorer.model.source_lines import SourceLines

SOURCE = "import triton\nnothing\n"
ERROR = Diagnostic("error", "nothing is not defined", line=2, hint="Define it.")


def failure(file):
    log = Sarif("scale", SourceLines(SOURCE, "", {}), Path(file), SOURCE).failure([ERROR])
    (run,) = log["runs"]
    (result,) = run["results"]
    (place,) = result["locations"]
    return run, result, place


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("kernels/scale.py", "kernels/scale.py"),
        ("my kernels/100 %.py", "my%20kernels/100%20%25.py"),
        ("a:b#c.py", "a%3Ab%23c.py"),
        ("/tmp/my kernel.py", "file:///tmp/my%20kernel.py"),
    ],
)
def test_addresses_are_encoded(file, uri):
    run, _, place = failure(file)
    assert place["physicalLocation"]["artifactLocation"] == {"uri": uri}
    assert "artifacts" not in run


def test_the_standard_input_has_its_text_in_place_of_an_address():
    run, _, place = failure("-")
    (artifact,) = run["artifacts"]
    assert place["physicalLocation"]["artifactLocation"] == {"index": 0}
    assert artifact["contents"]["text"] == SOURCE


def test_the_error_of_a_failed_compilation_is_a_result():
    run, result, place = failure("scale.py")
    assert run["invocations"] == [{"executionSuccessful": False}]
    assert (result["level"], result["message"]["text"]) == ("error", "nothing is not defined Define it.")
    assert result["ruleId"] in {each["id"] for each in run["tool"]["driver"]["rules"]}
    assert place["physicalLocation"]["region"] == {"startLine": 2}
    assert place["logicalLocations"] == [{"name": "scale", "kind": "function"}]
