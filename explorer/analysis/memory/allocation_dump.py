"""Check that the compiler's report of the allocation is complete, by comparison with the module.

In: `model.Allocation`s as they were read from the report, and the text of the module after the pass, which
has the offsets as attributes. Out: a description of the missing buffers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from explorer.model import Allocation

_OFFSET = re.compile(r"\ballocation\.offset = (\d{1,15}) : i32")


def missing_from_dump(allocations: Sequence[Allocation], text: str) -> str:
    """Describe the buffers of the module that the report lacks; return "" if none is missing."""
    marked = Counter(map(int, _OFFSET.findall(text)))
    listed = Counter(buffer.offset_bytes for each in allocations for buffer in each.buffers)
    missing = sorted((marked - listed).elements())
    if not missing:
        return ""
    offsets = ", ".join(f"{offset:,}" for offset in missing[:5]) + (", …" if len(missing) > 5 else "")
    return (
        f"The compiler's report of the allocation is truncated: {len(missing)} of {marked.total()} buffers "
        f"of the module are missing, at the offsets {offsets}. Compile again. The Passes pane shows the "
        "module with all offsets."
    )
