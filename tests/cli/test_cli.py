"""Test the common behavior of all commands, and the commands that compile nothing."""

from importlib.metadata import version

import pytest

from explorer.cli.main import main
from explorer.cli.settings import settings_page
from explorer.cli.tools import format_diagnostic
from explorer.model import Diagnostic
from explorer.model.hardware import TARGETS

from .conftest import SIGNATURE, run

pytestmark = pytest.mark.slow


def test_a_file_that_is_not_there_is_named(capsys, tmp_path):
    result = run("compile", tmp_path / "nothing.py")
    assert result.returncode == 1
    assert "Cannot read" in result.stderr


@pytest.mark.parametrize("option", ["--output", "--html"])
def test_a_place_where_nothing_can_be_written_is_named_before_anything_is_done(kernel, option):
    result = run("compile", kernel, "--signature", SIGNATURE, option, kernel / "folder" / "file")
    assert result.returncode == 1
    assert "Cannot create the folder" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_target_is_answered_with_the_list(kernel):
    result = run("compile", kernel, "--target", "cuda:1")
    assert result.returncode == 1
    assert "cuda:90" in result.stderr
    assert result.stderr.count("Unknown target") == 1


def test_an_empty_file_is_named(tmp_path):
    for command in ("compile", "inspect", "matrix", "check"):
        file = tmp_path / "empty.py"
        file.write_text("\n")
        result = run(command, file)
        assert (result.returncode, result.stdout) != (0, "")
        assert f"{file} is empty. Give a file with a Triton kernel." in result.stderr


@pytest.mark.parametrize(
    ("command", "summary"),
    [
        ("bisect", "Find the first Triton version"),
        ("mcp", "(MCP)"),
        ("toolchain", "Add, list or remove Triton"),
    ],
)
def test_the_help_of_a_command_begins_with_its_summary(capsys, command, summary):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert summary in " ".join(capsys.readouterr().out.split())


def test_targets_settings_and_version_are_printed(capsys):
    assert main(["targets"]) == 0
    targets = capsys.readouterr().out
    assert all(target.name in targets for target in TARGETS)
    assert main(["settings"]) == 0
    assert capsys.readouterr().out == settings_page()
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


def test_words_are_explained():
    explained = run("explain", "ttg.convert_layout")
    assert explained.returncode == 0 and explained.stdout.startswith("mlir: ")
    unknown = run("explain", "no.such_operation")
    assert unknown.returncode == 1 and "'no.such_operation'" in unknown.stderr
