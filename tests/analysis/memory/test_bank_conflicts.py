"""Test the shared memory wavefronts of textbook cases."""

import pytest

from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.analysis.memory.bank_conflicts import shared_access, wavefronts_of

ROW_MAJOR = LinearLayout(
    (("offset", (*(((0, 1 << bit)) for bit in range(5)), *(((1 << bit, 0)) for bit in range(5)))),), (32, 32)
)
SWIZZLED = LinearLayout(
    (("offset", (*((0, 1 << bit) for bit in range(5)), *((1 << bit, 1 << bit) for bit in range(5)))),),
    (32, 32),
)
BY_ROWS = LinearLayout(
    (
        ("register", tuple((1 << bit, 0) for bit in range(5))),
        ("lane", tuple((0, 1 << bit) for bit in range(5))),
    ),
    (32, 32),
)
BY_COLUMNS = LinearLayout(
    (
        ("register", tuple((0, 1 << bit) for bit in range(5))),
        ("lane", tuple((1 << bit, 0) for bit in range(5))),
    ),
    (32, 32),
)


@pytest.mark.parametrize(
    ("stride_words", "wavefronts"), [(1, 1), (2, 2), (3, 1), (16, 16), (32, 32), (33, 1), (0, 1)]
)
def test_strides_of_single_words(stride_words, wavefronts):
    assert wavefronts_of([4 * stride_words * lane for lane in range(32)], 4) == (wavefronts, 1)


def test_lanes_of_16_bytes_go_in_four_wavefronts():
    assert wavefronts_of([16 * lane for lane in range(32)], 16) == (4, 4)


def test_a_row_has_no_conflicts_and_a_column_has_them_all():
    assert shared_access(BY_ROWS, ROW_MAJOR, 32).conflicts == 0
    column = shared_access(BY_COLUMNS, ROW_MAJOR, 32)
    assert (column.vector_bytes, column.wavefronts, column.least) == (16, 32, 4)


def test_swizzling_and_padding_take_conflicts_away():
    column = LinearLayout((("lane", tuple((1 << bit, 0) for bit in range(5))),), (32, 32))
    assert shared_access(column, ROW_MAJOR, 32).conflicts == 31
    assert shared_access(column, SWIZZLED, 32).conflicts == 0
    assert shared_access(column, ROW_MAJOR, 32, padding=[(32, 1)]).conflicts == 0
