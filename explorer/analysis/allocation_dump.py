"""Whether the compiler's dump of its allocation is whole: compared with the module that the pass has left.

In: `model.Allocation`s as they were read from the dump, and the module's text, in which the pass has written
its offsets beside the operations. Out: in words, what the dump leaves out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from explorer.model import Allocation

_OFFSET = re.compile(r"\ballocation\.offset = (\d{1,15}) : i32")


def missing_from_dump(allocations: Sequence[Allocation], text: str) -> str:
    """Say which buffers of the module are not in the dump; "" where none is missing."""
    marked = Counter(map(int, _OFFSET.findall(text)))
    told = Counter(buffer.offset_bytes for each in allocations for buffer in each.buffers)
    missing = sorted((marked - told).elements())
    if not missing:
        return ""
    offsets = ", ".join(f"{offset:,}" for offset in missing[:5]) + (", …" if len(missing) > 5 else "")
    return (
        f"The compiler's dump of its allocation is cut off: {len(missing)} of {marked.total()} buffers of "
        f"the module are missing, those at the offsets {offsets}. Compile again; the Passes pane has the "
        "module with all offsets."
    )
