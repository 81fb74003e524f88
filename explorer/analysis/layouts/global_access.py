"""Loads and stores of global memory: the vector width of a lane, the sectors of a warp, and their limits.

In: the layout of the tensor, and the compiler's analysis of its pointers and mask. Out: how many elements a
lane moves with one instruction and what limits them; the sectors of 32 bytes that the lanes of a warp access
with one instruction, and the used share of them; the same of all instructions of the operation together.

The width follows the rule of the compiler: consecutive elements of a thread, contiguous and aligned pointers,
one mask for all, at most 16 bytes. The sectors follow from the offsets of the elements if these are known. If
not, each range of addresses that the compiler knows to be contiguous is assumed to start at a sector.

Source: ModuleAxisInfoAnalysis::getContiguity and getMaskAlignment, lib/Analysis/AxisInfo.cpp, Triton 3.6
and 3.9; sectors: CUDA best practices guide, coalesced access to global memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Literal

from explorer.analysis.layouts.linear_layout import LinearLayout
from explorer.model.answers import AxisInformation
from explorer.model.hardware import LANE_ACCESS_BYTES, SECTOR_BYTES

Limit = Literal["layout", "contiguity", "divisibility", "mask", "instruction"]

_POINTER = re.compile(r"!tt\.ptr<([^<>]+)>")
_THROUGH_DESCRIPTORS = re.compile(r"\.(descriptor_|async_tma_)")
_ACCESS = re.compile(
    r"tt\.(load|store|atomic_rmw|atomic_cas|descriptor_\w+)|ttg\.async_copy_global_to_local|"
    r"ttng\.async_tma_\w+|(amdg|amdgpu)\.buffer_\w+"
)
_BITS = re.compile(r"\d+")


def is_global_access(operation: str) -> bool:
    """Return whether an operation, by its name, accesses global memory."""
    return _ACCESS.fullmatch(operation) is not None


def uses_descriptor(operation: str) -> bool:
    """Return whether an access, by its name, moves a box of a tensor descriptor."""
    return _THROUGH_DESCRIPTORS.search(operation) is not None


def pointee(type_name: str) -> str | None:
    """Return the type that a pointer, or each pointer of a tensor, points to; None for other types."""
    found = _POINTER.search(type_name)
    return found[1] if found else None


def bytes_of_element(type_name: str) -> int:
    """Return the size of an element whose type, such as `f16`, states its bits; 1 if it states none."""
    found = _BITS.search(type_name)
    return max(8, int(found[0]) if found else 8) // 8


@dataclass(frozen=True)
class Width:
    """`vector` elements are moved at once along `dimension`; `allowed` is what each limit alone allows.

    `limits` are the binding limits: only lifting all of them makes the width grow. The layout is one of them
    only if no other limit binds: the compiler chooses it by the others.
    """

    dimension: int
    vector: int
    limits: tuple[Limit, ...]
    allowed: dict[Limit, int]


@dataclass(frozen=True)
class Sectors:
    """The sectors that a warp accesses with one instruction, and the used `share` of their bytes.

    `operation` counts the same of all instructions and warps of a program together. `lane_ranges` has the
    contiguous range of addresses of each lane; the distances between ranges are left out. `lane_offsets` has
    the first byte of each lane in the accessed sectors, one range after another. With `are_most`, no
    neighbors are known to be consecutive: each element has a sector of its own here, and addresses that are
    near each other need fewer sectors.
    """

    sectors: int
    used_bytes: int
    share: float
    lane_ranges: tuple[int, ...]
    lane_offsets: tuple[int, ...]
    are_most: bool
    operation: Together


@dataclass(frozen=True)
class Together:
    """The sectors that all instructions of an operation access in a program, and the bytes that it uses."""

    sectors: int
    used_bytes: int

    @property
    def share(self) -> float:
        return self.used_bytes / (self.sectors * SECTOR_BYTES)


def width(
    layout: LinearLayout, element_bytes: int, pointer: AxisInformation, mask: AxisInformation | None
) -> Width:
    dimension = _fastest(layout, pointer)
    allowed: dict[Limit, int] = {
        "layout": layout.contiguity(dimension),
        "contiguity": min(pointer.contiguity[dimension], layout.shape[dimension]),
        "divisibility": max(1, pointer.divisibility[dimension] // element_bytes),
        "instruction": max(1, LANE_ACCESS_BYTES // element_bytes),
    }
    if mask is not None:
        allowed["mask"] = mask.constancy[dimension]
    vector = min(allowed.values())
    of_kernel: tuple[Limit, ...] = ("mask", "contiguity", "divisibility")
    limits: tuple[Limit, ...] = tuple(name for name in of_kernel if allowed.get(name) == vector)
    if "contiguity" in limits:
        # The divisibility is of the first address of each contiguous range. Longer ranges may have another.
        limits = tuple(name for name in limits if name != "divisibility")
    if allowed["instruction"] == vector:
        limits = ("instruction",)
    return Width(dimension, 1 << vector.bit_length() - 1, limits or ("layout",), allowed)


def sectors(
    layout: LinearLayout, element_bytes: int, pointer: AxisInformation, dimension: int, vector: int
) -> Sectors:
    """Count the sectors of a warp's first instruction; the others are like it.

    `vector` elements along `dimension` are moved at once. Single elements may be consecutive along another
    dimension.
    """
    if vector == 1:
        dimension = max(range(len(layout.shape)), key=lambda each: (pointer.contiguity[each], each))
    run = max(1, min(pointer.contiguity[dimension], layout.shape[dimension]))
    touched: dict[tuple[int, ...], set[int]] = defaultdict(set)
    lanes: list[tuple[tuple[int, ...], int]] = []
    for lane in range(layout.size("lane")):
        element = layout.apply({"lane": lane})
        key, start = _run_of(element, pointer, dimension, run)
        lanes.append((key, start * element_bytes))
        touched[key].update(range(start * element_bytes, (start + vector) * element_bytes))
    used = sum(map(len, touched.values()))
    count = sum(len({byte // SECTOR_BYTES for byte in bytes_}) for bytes_ in touched.values())
    bases: dict[tuple[int, ...], int] = {}
    end = 0
    for key, bytes_ in touched.items():
        first = min(bytes_) // SECTOR_BYTES
        bases[key] = end - first * SECTOR_BYTES
        end += (max(bytes_) // SECTOR_BYTES + 1 - first) * SECTOR_BYTES
    offsets = tuple(bases[key] + start for key, start in lanes)
    order = {key: index for index, key in enumerate(bases)}
    ranges = tuple(order[key] for key, _ in lanes)
    together = _together(layout, element_bytes, pointer, dimension, run)
    return Sectors(count, used, used / (count * SECTOR_BYTES), ranges, offsets, run == 1, together)


def sectors_at(layout: LinearLayout, element_bytes: int, vector: int, offsets: Sequence[int]) -> Sectors:
    """Count the sectors of a warp's first instruction. `offsets` has the place of each element of the tensor.

    The tensor is assumed to start at a sector.
    """
    starts = [
        offsets[layout.element_index({"lane": lane})] * element_bytes for lane in range(layout.size("lane"))
    ]
    used = {byte for start in starts for byte in range(start, start + vector * element_bytes)}
    touched = sorted({byte // SECTOR_BYTES for byte in used})
    places = {sector: place for place, sector in enumerate(touched)}
    ranges = {
        sector: number
        for number, (_, run) in enumerate(groupby(touched, key=lambda sector: sector - places[sector]))
        for sector in run
    }
    elements = {*offsets}
    all_sectors = {offset * element_bytes // SECTOR_BYTES for offset in elements}
    return Sectors(
        len(touched),
        len(used),
        len(used) / (len(touched) * SECTOR_BYTES),
        tuple(ranges[start // SECTOR_BYTES] for start in starts),
        tuple(places[start // SECTOR_BYTES] * SECTOR_BYTES + start % SECTOR_BYTES for start in starts),
        False,
        Together(len(all_sectors), len(elements) * element_bytes),
    )


def distances(shape: Sequence[int], offsets: Sequence[int]) -> tuple[int | None, ...]:
    """Return the distance of neighbors along each dimension of a tensor; None: they are not equal."""
    found: list[int | None] = []
    for dimension, size in enumerate(shape):
        inner = prod(shape[dimension + 1 :])
        pairs = zip(offsets, offsets[inner:], strict=False)
        each = {after - at for index, (at, after) in enumerate(pairs) if index // inner % size < size - 1}
        found.append(each.pop() if len(each) == 1 else None)
    return tuple(found)


def _together(
    layout: LinearLayout, element_bytes: int, pointer: AxisInformation, dimension: int, run: int
) -> Together:
    """Count the sectors and bytes of all elements of a program."""
    addresses = [_power_of_two(each) for each in pointer.constancy]
    sectors = [*addresses]
    if run > 1:
        addresses[dimension] = 1
        sectors[dimension] = min(_power_of_two(run), max(1, SECTOR_BYTES // element_bytes))
    return Together(_boxes(layout, sectors), _boxes(layout, addresses) * element_bytes)


def _boxes(layout: LinearLayout, sizes: Sequence[int]) -> int:
    """Return how many boxes of `sizes` elements the elements of a program are in."""

    def scaled(coordinates: Sequence[int]) -> tuple[int, ...]:
        return tuple(each // size for each, size in zip(coordinates, sizes, strict=True))

    bases = [scaled(basis) for name in ("register", "lane", "warp") for basis in layout.bases(name)]
    shape = tuple(max(1, size) for size in scaled(layout.shape))
    return 1 << LinearLayout((("place", tuple(bases)),), shape).rank


def _power_of_two(number: int) -> int:
    """Return the largest power of two that divides a number."""
    return number & -number


def _run_of(
    element: Sequence[int], pointer: AxisInformation, dimension: int, run: int
) -> tuple[tuple[int, ...], int]:
    """Return the contiguous range that an element is in, and its place in the range."""
    key = [coordinate // constancy for coordinate, constancy in zip(element, pointer.constancy, strict=True)]
    if run == 1:
        return tuple(key), 0
    key[dimension] = element[dimension] // run
    return tuple(key), element[dimension] % run


def _fastest(layout: LinearLayout, pointer: AxisInformation) -> int:
    """Return the dimension along which threads hold elements at consecutive addresses.

    If no thread holds two of them, return the dimension along which addresses are consecutive.
    """
    return max(
        range(len(layout.shape)),
        key=lambda dimension: (
            min(layout.contiguity(dimension), pointer.contiguity[dimension]),
            pointer.contiguity[dimension],
            layout.contiguity(dimension),
            dimension,
        ),
    )
