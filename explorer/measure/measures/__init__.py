"""What can be measured. A measure is one file here, with a function `measure`, and one line in `MEASURES`.

Their order is that in which they are made, whatever the order in which they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.measure.bench import Bench
from explorer.model import Measure

MEASURES: dict[Measure, Callable[[Bench], None]] = {}
