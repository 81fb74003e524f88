"""Test that the shares of the slow tests are all of them, and that fast tests are in each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
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
    """What a share is chosen by."""

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
