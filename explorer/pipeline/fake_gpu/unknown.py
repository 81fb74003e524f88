"""Placeholders for the values of results that are not computed.

No kernel runs here, so the content of a tensor on the fake GPU is unknown. A program may copy an unknown
value, format it and calculate with it. `NeedsValue` is raised only where the value would decide the control
flow.
"""

from __future__ import annotations

import math
from typing import Any, NoReturn

from explorer.pipeline.errors import NeedsValue


def needs_value(what: str) -> NoReturn:
    raise NeedsValue(what)


class UnknownBool:
    """The result of a comparison of unknown values."""

    def __bool__(self) -> bool:
        needs_value("the outcome of a comparison of results")

    def __repr__(self) -> str:
        return "unknown"


class UnknownFloat(float):
    """A number read from a tensor whose content is unknown. It is formatted as nan."""

    def __new__(cls) -> UnknownFloat:
        return super().__new__(cls, math.nan)

    def _arithmetic(self, *_other: Any) -> UnknownFloat:
        return UnknownFloat()

    def _comparison(self, _other: object) -> Any:
        return UnknownBool()

    def _conversion(self, *_arguments: Any) -> NoReturn:
        needs_value("a number read from a tensor")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _arithmetic
    # The methods of float return other types.
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __round__ = _arithmetic  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _comparison
    __bool__ = __int__ = __trunc__ = __floor__ = __ceil__ = _conversion
    __hash__ = float.__hash__
