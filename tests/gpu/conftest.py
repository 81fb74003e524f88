"""Lets every Python that these tests start import the project, which need not be installed there."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def project_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the root first on the path of child processes. `-m` does so by itself, a script does not."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
