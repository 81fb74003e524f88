"""Test the waves of a grid against numbers calculated by hand."""

import pytest

from explorer.analysis.occupancy.waves import waves


@pytest.mark.parametrize(
    ("blocks", "each", "multiprocessors", "expected"),
    [
        (264, 2, 132, (264, 1, 264, 1.0)),
        (265, 2, 132, (264, 2, 1, 265 / 528)),
        (1, 1, 108, (108, 1, 1, 1 / 108)),
        (256, 2, 132, (264, 1, 256, 256 / 264)),
    ],
)
def test_by_hand(blocks, each, multiprocessors, expected):
    found = waves(blocks, each, multiprocessors)
    assert (found.at_once, found.waves, found.tail, found.used_share) == expected


def test_without_a_block_there_is_no_wave():
    assert waves(10, 0, 132) is None
    assert waves(0, 2, 132) is None
