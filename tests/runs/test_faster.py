"""Test which of two times is faster."""

import pytest

from explorer.model.measurements.times import Timing


@pytest.mark.parametrize(
    ("low", "median", "high", "is_faster"),
    [(96, 98, 98.5, True), (98, 98.5, 98.8, False), (90, 95, 99.5, False), (110, 111, 112, False)],
    ids=["2 % and apart", "less than 2 %", "the spreads overlap", "slower"],
)
def test_a_time_is_faster_from_2_percent_on_where_the_spreads_do_not_overlap(low, median, high, is_faster):
    before = Timing("proton", "cold", 100, 99, 101, ())
    assert Timing("proton", "cold", median, low, high, ()).is_faster_than(before) == is_faster
