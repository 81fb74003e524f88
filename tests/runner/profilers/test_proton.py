"""Test the reading of times from Proton's files."""

from pathlib import Path

import pytest

from explorer.runner.profilers import proton

HATCHET = (Path(__file__).parent / "outputs" / "proton.hatchet").read_bytes()


def test_each_launch_has_its_own_time():
    times = proton.times_ns(HATCHET)
    assert proton.samples_ns(times, "cold", 5) == [2112, 1568, 1600, 1504, 1600]
    assert proton.samples_ns(times, "warm", 5) == [928, 960, 960, 960, 960]


def test_a_launch_that_proton_has_not_seen_is_said():
    with pytest.raises(proton.ProtonFailed, match="cold 5"):
        proton.samples_ns(proton.times_ns(HATCHET), "cold", 6)


@pytest.mark.parametrize(
    ("samples", "spread"),
    [
        ([7.0], (7, 7, 7)),
        ([1.0, 2.0], (1.5, 1.2, 1.8)),
        ([5.0, 1.0, 4.0, 2.0, 3.0, 6.0], (3.5, 2, 5)),
    ],
)
def test_median_and_quantiles(samples, spread):
    found = proton.spread(samples)
    assert (found.median, found.low, found.high) == pytest.approx(spread)
