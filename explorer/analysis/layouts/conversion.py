"""The data movement of a conversion between two layouts in registers.

In: two distributed layouts of the same tensor. Out: how far values move, and the cost.

A value can stay within its register, thread, warp or block if the old layout holds it there for every place
of the new layout. Then the old bases of the inputs that may differ span the difference. If values are
replicated, the nearest copy counts. The compiler decides in the same order (`minimalCvtLayout`,
lib/Analysis/Utility.cpp of Triton 3.6 and 3.9), and uses shared memory where shuffles within a warp would
cost more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from explorer.analysis.layouts.linear_layout import LinearLayout, spans

Movement = Literal["nothing", "registers", "shuffles", "shared memory", "cluster"]

_WORD_BITS = 32
#: The inputs that may differ between the current and the wanted place of a value, the nearest first.
_REACH: tuple[tuple[Movement, tuple[str, ...]], ...] = (
    ("nothing", ()),
    ("registers", ("register",)),
    ("shuffles", ("register", "lane")),
    ("shared memory", ("register", "lane", "warp")),
)


@dataclass(frozen=True)
class ConversionCost:
    """The modeled cost of a conversion. Counts are per thread, bytes and wavefronts per block.

    `moved_registers` registers of 32 bits get a value from a different register. `shuffles` are exchanges
    between lanes. A wavefront is the data that shared memory processes at once; `wavefronts` is the smallest
    number, without conflicts.
    """

    moved_registers: int
    shuffles: int
    shared_bytes: int
    wavefronts: int


def movement(source: LinearLayout, result: LinearLayout) -> Movement:
    """Return how far values must move at least."""
    for name, varying in _REACH:
        if _is_within(source, result, varying):
            return name
    return "cluster"


def cost(
    source: LinearLayout, result: LinearLayout, element_bits: int, how: Movement, wavefront_bytes: int
) -> ConversionCost:
    """Return the cost of a conversion whose values move in the way `how`."""
    registers = result.size("register")
    words = max(1, registers * max(element_bits, 8) // _WORD_BITS)
    if how == "nothing":
        return ConversionCost(0, 0, 0, 0)
    if how == "registers":
        stay = sum(
            source.apply({"register": register}) == result.apply({"register": register})
            for register in range(min(registers, source.size("register")))
        )
        return ConversionCost(math.ceil((registers - stay) * words / registers), 0, 0, 0)
    if how == "shuffles":
        return ConversionCost(words, _shuffles(source, result, words), 0, 0)
    element_bytes = max(element_bits, 8) // 8
    written = (1 << source.rank) * element_bytes
    threads = result.size("lane") * result.size("warp") * result.size("block")
    # Lanes that read the same element are served together; warps are not.
    read = (registers * threads >> result.free_bits("lane").bit_count()) * element_bytes
    return ConversionCost(
        words, 0, written, math.ceil(written / wavefront_bytes) + math.ceil(read / wavefront_bytes)
    )


def _is_within(source: LinearLayout, result: LinearLayout, varying: tuple[str, ...]) -> bool:
    """Return whether each place of `result` has its value where only the inputs `varying` differ."""
    old, new = dict(source.flat_bases), dict(result.flat_bases)
    reachable = [vector for name in varying for vector in old.get(name, ())]
    for name in ("register", "lane", "warp", "block"):
        here, there = new.get(name, ()), old.get(name, ())
        for bit, wanted in enumerate(here):
            kept = 0
            if name not in varying:
                # A register that the old layout does not have holds nothing.
                if bit >= len(there):
                    if name == "register":
                        return False
                else:
                    kept = there[bit]
            if not spans(reachable, [wanted ^ kept]):
                return False
    return len(old.get("register", ())) == len(new.get("register", ())) or "register" in varying


def _shuffles(source: LinearLayout, result: LinearLayout, words: int) -> int:
    """Count the exchanges between lanes: lane bits that swap with register bits halve the number of words.

    Source: getWarpLayoutConvertDecomposition of lib/Analysis/Utility.cpp, Triton 3.6 and 3.9.
    """
    old, new = dict(source.flat_bases), dict(result.flat_bases)
    registers = list(old.get("register", ()))
    mixed = sum(not spans([*old.get("lane", ())], [vector]) for vector in new.get("lane", ()))
    lanes_permuted = any(
        not spans(registers, [wanted ^ kept])
        for wanted, kept in zip(new.get("lane", ()), old.get("lane", ()), strict=True)
        if spans(old.get("lane", ()), [wanted])
    )
    return words if lanes_permuted else max(1, mixed) * max(1, words // 2)
