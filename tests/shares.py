"""Shares of the slow tests. Together they are all tests; the hash of the commit chooses which one CI runs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TypeVar

import pytest

_Item = TypeVar("_Item", bound=pytest.Item)


def read_share(text: str) -> tuple[int, int]:
    """Return the number of a share, from 1 on, and how many there are. "2/4" is the second of four."""
    found = re.fullmatch(r"([1-9]\d{0,2})/([1-9]\d{0,2})", text)
    if not found or int(found[1]) > int(found[2]):
        raise argparse.ArgumentTypeError(f"It must be from 1/4 to 4/4, for four shares, got {text!r}.")
    return int(found[1]), int(found[2])


def share_of(items: Sequence[_Item], number: int, count: int) -> list[_Item]:
    """Return the slow tests of a share, and all fast tests, in their order.

    The tests of a file stay together, and so do the tests of an example of the gallery, which is compiled
    once. Neighbors, which are alike, are in different shares.
    """
    slow = [item for item in items if item.get_closest_marker("slow")]
    positions = {group: position for position, group in enumerate(dict.fromkeys(map(_group_of, slow)))}
    others = {item for item in slow if positions[_group_of(item)] % count != number - 1}
    return [item for item in items if item not in others]


def _group_of(item: pytest.Item) -> str:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters["example"] if {"example", "gallery"} <= parameters.keys() else str(item.path)
