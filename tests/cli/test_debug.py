"""Test `debug`, which compiles a request without the sandbox."""

import json

import pytest

from explorer.cli.main import main

from .conftest import KERNEL, SIGNATURE, run


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "Cannot read"),
        ("{", "request.json: Input data was truncated"),
        ('{"source": "x = 1"}', "request.json: Object missing required field `target`"),
        ('{"source": "x = 1", "target": "cuda:90", "triton": "1.0"}', "Triton 1.0 is not installed"),
    ],
    ids=["missing", "no JSON", "no target", "no Triton"],
)
def test_a_wrong_request_is_refused(text, message, tmp_path, capsys):
    file = tmp_path / "request.json"
    if text is not None:
        file.write_text(text)
    assert main(["debug", str(file)]) == 1
    assert message in capsys.readouterr().err


def test_the_help_warns_that_there_is_no_sandbox(capsys):
    with pytest.raises(SystemExit):
        main(["debug", "--help"])
    assert "WITHOUT A SANDBOX" in capsys.readouterr().out


@pytest.mark.slow
def test_a_request_is_compiled_event_by_event(tmp_path):
    """As saved in result.json, with a breakpoint in the script; and with an argument too few."""
    file = tmp_path / "result.json"
    request = {"source": f"{KERNEL}\nbreakpoint()\n", "target": "cuda:90", "arguments": SIGNATURE}
    file.write_text(json.dumps({"status": "complete", "request": request}))
    done = run("debug", file, input="p 6 * 7\ncontinue\n")
    assert done.returncode == 0, done.stderr
    assert "(Pdb) 42" in done.stdout
    assert "\nstage sass: " in done.stdout
    assert done.stdout.splitlines()[-1].startswith("done: complete in ")

    file.write_text(json.dumps(request | {"source": KERNEL, "arguments": "*fp32"}))
    failed = run("debug", "--json", file)
    assert failed.returncode == 1
    events = [json.loads(line) for line in failed.stdout.splitlines()]
    assert [each["event"] for each in events[-2:]] == ["diagnostic", "done"]
    assert "Traceback" in failed.stderr
