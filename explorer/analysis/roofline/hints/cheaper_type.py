"""Hint: the matrix product uses a type for which the matrix units have a low rate."""

from __future__ import annotations

from explorer.analysis.roofline.documents import Evidence, Hint
from explorer.analysis.roofline.hints.case import Case
from explorer.analysis.roofline.numbers import scaled

#: Types with a low rate, and a faster type with the same range or nearly the same precision.
_CHEAPER = {"tensor tf32": "tensor bf16", "tensor fp64": "tensor tf32"}
_LIMIT = 0.5


def find(case: Case) -> Hint | None:
    """Return the hint if a matrix product of a slow type is the limit."""
    slow = case.binding
    fast = _CHEAPER.get(slow)
    row = next((each for each in case.resources if each.name == slow), None)
    rates = {each.name: each.rate for each in case.facts.hardware.ceilings}
    if fast is None or row is None or not row.needs or (case.share is not None and case.share < _LIMIT):
        return None
    if slow not in rates or fast not in rates:
        return None
    need = case.need_ns(slow)
    return case.hint(
        "cheaper_type",
        f"{fast.removeprefix('tensor ')} has {rates[fast] / rates[slow]:.0f} times the rate of "
        f"{slow.removeprefix('tensor ')}",
        f"The matrix units compute {scaled(rates[fast], 'FLOP/s')} in {fast.removeprefix('tensor ')}. The "
        "accumulator can stay in fp32. Check the result against the reference.",
        [
            Evidence(
                f"operations in {slow.removeprefix('tensor ')}", row.work.value, "FLOP", row.work.source
            ),
            Evidence(f"rate of {slow}", rates[slow], "FLOP/s", "datasheet"),
            Evidence(f"rate of {fast}", rates[fast], "FLOP/s", "datasheet"),
        ],
        0,
        need - max(need * rates[slow] / rates[fast], case.next_need_ns(slow)) if need else None,
        cost=f"{fast.removeprefix('tensor ')} has a shorter mantissa: the result is less exact.",
    )
