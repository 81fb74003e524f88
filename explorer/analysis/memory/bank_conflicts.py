"""Bank conflicts of an access to shared memory, counted lane by lane.

In: a layout in registers, a layout of shared memory, the width of an element. Out: the bytes that each lane
reads or writes with one instruction, the wavefronts, and the number of additional wavefronts.

Shared memory has banks of 4 bytes; lanes that use the same word are served together, others of the same
bank one after another. A lane moves up to 16 bytes at once where its registers follow one another in
memory; the lanes of a warp are then served in as many wavefronts as their bytes need.

Source: CUDA programming guide, shared memory; AMD's CDNA 3 and 4 ISA documents, LDS.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.model.hardware import BANK_BYTES, LANE_ACCESS_BYTES

#: (interval, padding), in elements.
Padding = tuple[int, int]


@dataclass(frozen=True)
class SharedAccess:
    """One instruction of a warp. `offsets` are the bytes of each lane's first element.

    `wavefronts` is the number of wavefronts of one instruction, `least` the number that its bytes need.
    `conflicts` is the number of excess wavefronts for each needed wavefront, as the compiler counts them.
    """

    vector_bytes: int
    offsets: tuple[int, ...]
    wavefronts: int
    least: int

    @property
    def conflicts(self) -> int:
        return self.wavefronts // self.least - 1


def shared_access(
    registers: LinearLayout,
    shared: LinearLayout,
    element_bits: int,
    padding: Sequence[Padding] = (),
    banks: int = 32,
) -> SharedAccess:
    """Count the wavefronts of the first instruction; the others are like it, for the layouts are linear.

    Raises:
        NoSolution: the memory does not hold what the registers hold.
    """
    element_bytes = max(element_bits, 8) // 8
    offset_of = registers.invert_and_compose(_offsets_only(shared))
    vector = _vector(offset_of, element_bytes, padding)
    vector_bytes = vector * element_bytes
    offsets = tuple(
        _padded(offset_of.apply({"lane": lane})[0], padding) * element_bytes
        for lane in range(registers.size("lane"))
    )
    wavefronts, least = wavefronts_of(offsets, vector_bytes, banks)
    return SharedAccess(vector_bytes, offsets, wavefronts, least)


def wavefronts_of(offsets: Sequence[int], vector_bytes: int, banks: int = 32) -> tuple[int, int]:
    """Return the wavefronts of lanes that use `vector_bytes` from these offsets on, and the minimum.

    Lanes are served in groups that fill the banks once: 8 lanes of 16 bytes, 16 of 8.
    """
    group = max(1, min(len(offsets), banks * BANK_BYTES // max(vector_bytes, BANK_BYTES)))
    taken = 0
    groups = 0
    for start in range(0, len(offsets), group):
        words: dict[int, set[int]] = defaultdict(set)
        for offset in offsets[start : start + group]:
            for word in range(offset // BANK_BYTES, (offset + vector_bytes - 1) // BANK_BYTES + 1):
                words[word % banks].add(word)
        taken += max(map(len, words.values()))
        groups += 1
    return taken, groups


def _offsets_only(shared: LinearLayout) -> LinearLayout:
    return LinearLayout(tuple(each for each in shared.inputs if each[0] == "offset"), shared.shape)


def _vector(offset_of: LinearLayout, element_bytes: int, padding: Sequence[Padding]) -> int:
    """Return how many elements of a thread are consecutive in memory, in some order of its registers."""
    registers = [basis[0] for basis in offset_of.bases("register")]
    others = [basis[0] for name, bases in offset_of.inputs for basis in bases if name != "register"]
    most = min([LANE_ACCESS_BYTES // element_bytes, *(interval for interval, _ in padding)])
    count = 1
    # A bit of the vector is one register's alone, as the compiler has it.
    while count < most and count in registers:
        if any(each & count for each in (*others, *(each for each in registers if each != count))):
            break
        count *= 2
    return count


def _padded(offset: int, padding: Sequence[Padding]) -> int:
    return offset + sum(offset // interval * added for interval, added in padding)
