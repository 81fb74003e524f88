"""Test that the shares of the slow tests are all of them, and that fast tests are in each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CONFIGURATION = """\
import pytest
from shares import share_of

def pytest_addoption(parser):
    parser.addoption("--share")

def pytest_collection_modifyitems(config, items):
    items[:] = share_of(items, config.getoption("share"))
"""
SLOW = """\
import pytest

pytestmark = pytest.mark.slow

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    pass
"""
GALLERY = """\
import pytest

@pytest.mark.slow
@pytest.mark.parametrize("gallery", ["one", "other"])
@pytest.mark.parametrize("example", ["softmax", "matmul"])
def test_it(gallery, example):
    pass
"""


@pytest.fixture
def collected(tmp_path: Path) -> Callable[[str], set[str]]:
    """Return a function from a share to the tests of some files that it has."""
    (tmp_path / "conftest.py").write_text(CONFIGURATION)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\n")
    for name, text in {"a": SLOW, "b": SLOW, "c": GALLERY, "d": GALLERY}.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    (tmp_path / "test_fast.py").write_text("def test_it():\n    pass\n")

    def collect(share: str) -> set[str]:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "--collect-only",
            "-p",
            "no:cacheprovider",
            "--share",
            share,
        ]
        run = subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(Path(__file__).parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if run.returncode:
            raise ValueError(run.stdout)
        return {line for line in run.stdout.splitlines() if "::" in line}

    return collect


def test_together_they_are_all_tests(collected: Callable[[str], set[str]]) -> None:
    shares = [collected(f"{number}/3") for number in (1, 2, 3)]
    fast = {"test_fast.py::test_it"}
    assert len(set().union(*shares)) == 3 + 3 + 4 + 4 + 1
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert shares[one] & shares[other] == fast


def test_what_is_shared_by_tests_is_made_in_one_share(collected: Callable[[str], set[str]]) -> None:
    shares = [collected(f"{number}/4") for number in (1, 2, 3, 4)]
    for share in shares:
        names = {test.partition("::")[0] for test in share if "test_a" in test or "test_b" in test}
        examples = {test.rpartition("-")[0] for test in share if "test_c" in test or "test_d" in test}
        assert len(names) + len({test.partition("[")[2] for test in examples}) <= 1
    assert sum("softmax" in test for share in shares for test in share) == 4


def test_there_is_no_share_0(collected: Callable[[str], set[str]]) -> None:
    with pytest.raises(ValueError, match="name one from 1/3 to 3/3"):
        collected("0/3")
