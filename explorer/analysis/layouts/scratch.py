"""The compiler's scratch buffers for conversions between layouts."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from explorer.model import Allocation

_CONVERT = re.compile(r"^%\S+ = ttg\.convert_layout %\S+ (?P<attributes>\{.*?\} )?: (?P<types>.+)$")
_OFFSET = re.compile(r"allocation\.offset = (\d+)")


class ScratchBuffer(NamedTuple):
    """The size and the address of a scratch buffer."""

    size_bytes: int
    offset_bytes: int


class Scratch:
    """The scratch buffers by the types that the conversions are between.

    `text` is the module after the pass that allocates; "" without allocations.
    """

    def __init__(self, allocations: Sequence[Allocation], text: str) -> None:
        self.is_known = bool(allocations)
        self._waiting: dict[str, deque[ScratchBuffer | None]] = defaultdict(deque)
        sizes = deque(_sizes(allocations))
        for line in text.splitlines():
            conversion = _CONVERT.match(line.strip())
            if conversion:
                offset = _OFFSET.search(conversion["attributes"] or "")
                buffer = ScratchBuffer(sizes.popleft(), int(offset[1])) if offset and sizes else None
                self._waiting[conversion["types"]].append(buffer)

    def take(self, operation_text: str) -> tuple[bool, ScratchBuffer | None]:
        """Return whether a conversion is known, and its buffer; call in the order of the text."""
        conversion = _CONVERT.match(operation_text)
        waiting = self._waiting.get(conversion["types"]) if conversion else None
        return (True, waiting.popleft()) if waiting else (False, None)


def _sizes(allocations: Sequence[Allocation]) -> list[int]:
    return [
        buffer.size_bytes
        for allocation in allocations
        for buffer in sorted(allocation.buffers, key=lambda each: each.start)
        if buffer.use == "scratch" and "ttg.convert_layout" in buffer.owner
    ]
