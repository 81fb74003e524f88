"""Test that the shares of the slow tests are all of them, and that each test runs in one of the forms."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from shares import read_share, share_of


@dataclass(frozen=True)
class CallSpec:
    """The parameters of a test."""

    example: str

    @property
    def params(self) -> Mapping[str, str]:
        return {"example": self.example, "gallery": "3.9.0"}


@dataclass(frozen=True)
class Item:
    """The parts of a test that determine its share."""

    path: str
    number: int
    is_slow: bool = True

    def get_closest_marker(self, name: str) -> bool:
        return self.is_slow


@dataclass(frozen=True)
class GalleryItem(Item):
    callspec: CallSpec = CallSpec("")


def of_gallery(path: str, number: int, example: str) -> Item:
    return GalleryItem(path, number, callspec=CallSpec(example))


ITEMS: list[Any] = [
    *(Item("test_a.py", number) for number in range(3)),
    Item("test_fast.py", 0, is_slow=False),
    *(Item("test_b.py", number) for number in range(3)),
    *(of_gallery("test_c.py", number, example) for number in range(2) for example in ("softmax", "matmul")),
    *(of_gallery("test_d.py", number, example) for number in range(2) for example in ("softmax", "matmul")),
]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 9])
def test_together_they_are_all_tests(count: int) -> None:
    shares = [share_of(ITEMS, number, count) for number in range(1, count + 1)]
    slow = [item for share in shares for item in share if item.is_slow]
    assert len(slow) == len(set(slow)) == len(ITEMS) - 1
    assert all(ITEMS[3] in share for share in shares)


def test_what_tests_have_in_common_is_made_in_one_share() -> None:
    shares = [[item for item in share_of(ITEMS, number, 4) if item.is_slow] for number in (1, 2, 3, 4)]
    assert shares[0] == ITEMS[:3]
    assert shares[1] == ITEMS[4:7]
    assert shares[2] == ITEMS[7::2]
    assert shares[3] == ITEMS[8::2]


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "x/y", "1/0", ""])
def test_there_is_no_such_share(text: str) -> None:
    assert read_share("2/4") == (2, 4)
    with pytest.raises(argparse.ArgumentTypeError, match="from 1/4 to 4/4"):
        read_share(text)


def collected(*options: str) -> list[str]:
    """Return the tests of two folders that some options choose."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", *options]
    folders = ["tests/server", "tests/attacks"]
    done = subprocess.run(
        [*command, *folders], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


@pytest.mark.slow
def test_what_does_not_run_in_the_distributed_form_runs_in_the_other() -> None:
    all_tests = collected()
    distributed = collected("--form", "distributed", "--share", "2/3")
    others = collected("--except", "2/3")
    assert 0 < len(others) < len(all_tests)
    assert set(distributed) | set(others) == set(all_tests)
    of_embedded_form = [test for test in distributed if test in others]
    assert 0 < len(of_embedded_form) < len(distributed) / 2
