"""Checks of numbers that come from the jail, and their formatting."""

from __future__ import annotations

import math

#: No run transfers more bytes or executes more operations; none takes longer or less, in nanoseconds.
_MOST = 1e24
_LONGEST_NS = 1e15
_SHORTEST_NS = 1.0

_PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def amount(value: float | None) -> float | None:
    """Return a count or a size; None if it is out of range."""
    if value is None or not 1 <= value <= _MOST:
        return None
    return float(value)


def time_ns(value: float | None) -> float | None:
    """Return a time; None if it is out of range."""
    if value is None or not _SHORTEST_NS <= value <= _LONGEST_NS:
        return None
    return float(value)


def share(value: float | None) -> float | None:
    """Return a share of 1, where slightly more is a rounding error; None if it is out of range."""
    if value is None or not 0 <= value <= 1.01:
        return None
    return min(float(value), 1.0)


def scaled(value: float, unit: str) -> str:
    """Format a number with three digits and a prefix: 4.38 TB/s, 747 TFLOP/s."""
    for factor, prefix in _PREFIXES:
        if value >= 0.9995 * factor:
            return f"{_digits(value / factor)} {prefix}{unit}"
    return f"{_digits(value)} {unit}"


def duration(value_ns: float) -> str:
    """Format a time with three digits: 735 µs, 1.47 ms."""
    for factor, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value_ns >= 0.9995 * factor:
            return f"{_digits(value_ns / factor)} {unit}"
    return f"{_digits(value_ns)} ns"


def percent(value: float) -> str:
    """Format a share: 91 %; below 10 % with one more digit."""
    return f"{value * 100:.1f} %" if value < 0.0995 else f"{value * 100:.0f} %"


def _digits(value: float) -> str:
    """Format a number with three significant digits; whole numbers have all digits."""
    if value >= 99.95 or math.isclose(value, round(value), rel_tol=1e-9):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
