"""Shares of the slow tests. CI runs another one for each commit; together they are all tests."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


def share_of(items: Sequence[pytest.Item], share: str) -> list[pytest.Item]:
    """Return the tests of a share such as "2/4", and all fast ones, in their order.

    The tests of a file stay together, and so do those of an example of the gallery: its compilation is made
    once. Neighbors, which are alike, are in different shares.
    """
    number, count = map(int, share.split("/"))
    if not 1 <= number <= count:
        raise pytest.UsageError(f"--share {share}: name one from 1/{count} to {count}/{count}")
    positions: dict[str, int] = {}

    def is_kept(item: pytest.Item) -> bool:
        if item.get_closest_marker("slow") is None:
            return True
        return positions.setdefault(_together(item), len(positions)) % count == number - 1

    return list(filter(is_kept, items))


def _together(item: pytest.Item) -> str:
    parameters = (
        item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    )
    return str(parameters["example"]) if {"example", "gallery"} <= parameters.keys() else str(item.path)
