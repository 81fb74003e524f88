"""Accesses to global memory with their width and sectors; matrix instructions with their tile."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod

import msgspec

from explorer.analysis.assembly.emitted_instructions import Emitted
from explorer.analysis.layouts.global_access import (
    Limit,
    Sectors,
    Together,
    Width,
    bytes_of_element,
    distances,
    is_global_access,
    pointee,
    sectors,
    sectors_at,
    uses_descriptor,
    width,
)
from explorer.analysis.layouts.matrix_tiles import tile_of_encoding, tile_of_instruction
from explorer.model.answers import AxisInformation, Operation
from explorer.queries.emission import Emission
from explorer.queries.layout_survey import Survey
from explorer.queries.why_facts import listed, percent

_MATRIX = ("tt.dot", "tt.dot_scaled", "ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled")


class AccessRow(msgspec.Struct, frozen=True):
    """One access to global memory. Counts are per instruction of a warp; bytes of a lane, at once.

    `vector` elements are moved at once by a lane, by the rule of the compiler (`width_source`); `emitted` are
    the instructions at its location, read from `emitted_source`; `emitted_sharing` accesses have this
    location and emit them together. `pointer` and `mask` are the compiler's analysis. `limits` are the limits
    of the width that bind together: only lifting all of them makes it grow. `lane_ranges` has the contiguous
    range of addresses that each lane is in; the distances between ranges are left out. `lane_offsets` has the
    first byte of each lane, counted in the sectors that the warp accesses: one range after another, although
    they are not neighbors in memory. With `sectors_are_most`, no consecutive addresses are known, and the
    warp may need fewer sectors. `together` counts the sectors and the used bytes of all instructions of the
    operation in a program.

    If the launch determines the addresses, `launch_values` are the arguments that the places of the
    elements follow from, `distances` is how far neighbors along each dimension are apart (None: not equal),
    and `multiple` is the power of two that the first element of each wide instruction is a multiple of in its
    tensor. Other programs and turns move all elements by multiples of `shift`. Otherwise these are None.
    """

    line: int
    name: str
    operation: str
    layout: int | None
    element: str
    vector: int | None
    lane_bytes: int | None
    width_source: str
    limits: tuple[Limit, ...]
    allowed: dict[str, int]
    dimension: int | None
    sectors: int | None
    sectors_are_most: bool
    used_bytes: int | None
    sector_share: float | None
    together: Together | None
    lane_ranges: tuple[int, ...]
    lane_offsets: tuple[int, ...]
    launch_values: dict[str, int] | None
    distances: tuple[int | None, ...]
    multiple: int | None
    shift: int | None
    pointer: AxisInformation | None
    mask: AxisInformation | None
    emitted: tuple[Emitted, ...]
    emitted_source: str
    emitted_sharing: int
    words: str


class MatrixRow(msgspec.Struct, frozen=True):
    """One multiplication by the matrix units. `operands` are a, b and the accumulator, as layout indices."""

    line: int
    name: str
    operation: str
    tile: str
    tile_source: str
    operands: tuple[int | None, ...]
    emitted: tuple[Emitted, ...]
    emitted_source: str
    emitted_sharing: int


def accesses(survey: Survey, emission: Emission) -> list[AccessRow]:
    """Analyze every access to global memory, in the order of the text."""
    found = [each for each in survey.answer.operations if is_global_access(each.name)]
    sharing = emission.sharing(each.line for each in found)
    return [_access(survey, each, emission, sharing.get(each.line, 0)) for each in found]


def matrix_products(survey: Survey, emission: Emission) -> list[MatrixRow]:
    """Analyze every matrix multiplication, in the order of the text."""
    found = [each for each in survey.answer.operations if each.name in _MATRIX]
    sharing = emission.sharing(each.line for each in found)
    return [_matrix(survey, each, emission, sharing.get(each.line, 0)) for each in found]


def _access(survey: Survey, operation: Operation, emission: Emission, sharing: int) -> AccessRow:
    tensors = survey.operands(operation, "registers")
    layout = tensors[0].layout if tensors else None
    linear = None if layout is None else survey.linear(layout)
    element, element_bytes = _element(survey, operation)
    emitted = emission.of(operation.line, "global")
    pointer, mask = operation.pointer, operation.mask
    found, touched, offsets = None, None, None
    if linear is not None and pointer is not None and not uses_descriptor(operation.name):
        found = width(linear, element_bytes, pointer, mask)
        if mask is None and _has_mask(operation):
            found = _limited_by_mask(found, element_bytes, emitted)
        offsets = survey.offsets_of(operation.line, linear.shape)
        touched = (
            sectors_at(linear, element_bytes, found.vector, offsets)
            if offsets
            else sectors(linear, element_bytes, pointer, found.dimension, found.vector)
        )
    shape = linear.shape if linear else ()
    return AxisWords(operation, element, element_bytes, found, touched, survey, shape, offsets).row(
        layout, emitted, emission.source if emitted else "", sharing
    )


def _has_mask(operation: Operation) -> bool:
    """Return whether an access has a mask, if the compiler was not queried about masks."""
    least = 1 if operation.name.endswith(("load", "buffer_load")) else 2
    return any("xi1" in each.type for each in operation.operands[least:])


def _limited_by_mask(found: Width, element_bytes: int, emitted: tuple[Emitted, ...]) -> Width:
    """Explain an instruction that is narrower than all limits except the mask allow."""
    widths = {each.lane_bytes for each in emitted}
    narrow = widths.pop() if len(widths) == 1 else None
    if narrow is None or narrow >= found.vector * element_bytes:
        return found
    vector = max(1, narrow // element_bytes)
    return Width(found.dimension, vector, ("mask",), {**found.allowed, "mask": vector})


class AxisWords:
    """Describes an access, as data and in a sentence."""

    def __init__(
        self,
        operation: Operation,
        element: str,
        element_bytes: int,
        found: Width | None,
        touched: Sectors | None,
        survey: Survey,
        shape: Sequence[int],
        offsets: Sequence[int] | None,
    ) -> None:
        self._operation = operation
        self._element = element
        self._element_bytes = element_bytes
        self._width = found
        self._sectors = touched
        self._survey = survey
        self._shape = shape
        self._offsets = offsets
        self._distances = distances(shape, offsets) if offsets else ()
        self._launch_values = survey.launch_values(operation.line) if offsets else None

    def row(self, layout: int | None, emitted: tuple[Emitted, ...], source: str, sharing: int) -> AccessRow:
        found, touched, operation = self._width, self._sectors, self._operation
        return AccessRow(
            operation.line,
            next((each.name for each in (*operation.results, *operation.operands) if each.name), ""),
            operation.name,
            layout,
            self._element,
            found.vector if found else None,
            found.vector * self._element_bytes if found else None,
            "modelled from the compiler's axis analysis" if found else "",
            found.limits if found else (),
            {str(name): count for name, count in found.allowed.items()} if found else {},
            found.dimension if found else None,
            touched.sectors if touched else None,
            touched is not None and touched.are_most,
            touched.used_bytes if touched else None,
            touched.share if touched else None,
            touched.operation if touched else None,
            touched.lane_ranges if touched else (),
            touched.lane_offsets if touched else (),
            self._launch_values,
            self._distances,
            self._multiple(),
            self._survey.offsets[operation.line].step if self._offsets else None,
            operation.pointer,
            operation.mask,
            emitted,
            source,
            sharing,
            self._words(),
        )

    def _words(self) -> str:
        if uses_descriptor(self._operation.name):
            return (
                "A tensor descriptor: the copy engine moves the whole box. No lane computes an address; "
                "elements outside the tensor are filled in."
                if self._survey.target.vendor == "NVIDIA"
                else "A tensor descriptor: the box is moved as a whole."
            )
        if not self._survey.operands(self._operation, "registers"):
            return "A scalar: one lane of the block moves it."
        if self._width is None or self._sectors is None:
            reason = (
                self._survey.answer.axis_refusal or "the compiler's analysis has no result for its pointer."
            )
            return f"The width cannot be modelled: {reason}"
        found, touched = self._width, self._sectors
        total = found.vector * self._element_bytes
        lanes = self._survey.target.warp_size
        what = f"{found.vector} × {self._element} = {total} byte{'s' * (total != 1)}"
        why = " and ".join(_WHY[each].format(count=found.allowed[each]) for each in found.limits)
        why += "; both must change" * (len(found.limits) > 1) + self._advice(found)
        values = listed(f"{name} = {value}" for name, value in (self._launch_values or {}).items())
        the = f"With this launch's {values}, the" if values else "The"
        spread = (
            f"{the} {lanes} lanes access {'at most ' * touched.are_most}{touched.sectors} sectors of 32 "
            f"bytes and use {'at least ' * touched.are_most}{percent(touched.share)} of them"
        )
        more = "" if touched.share == 1 else f": {self._scattered(found)}"
        if touched.operation.share > touched.share:
            more += f"; all instructions of the operation together use {percent(touched.operation.share)}"
        return f"A lane moves {what} at once along dimension {found.dimension}: {why}. {spread}{more}."

    def _advice(self, found: Width) -> str:
        """Return what would widen the access, if a single limit binds and an argument can lift it."""
        if found.limits not in (("divisibility",), ("mask",)) or not self._survey.not_divisible:
            return ""
        multiple = self._multiple()
        if multiple is not None and found.limits == ("divisibility",) and multiple <= found.vector:
            return ", and in this launch it is a multiple of no more"
        names = ", ".join(self._survey.not_divisible)
        return f"; values of {names} that are divisible by 16 may help"

    def _multiple(self) -> int | None:
        """Return what the first elements of wide instructions are multiples of in all programs and turns."""
        numbers = self._survey.offsets.get(self._operation.line)
        if self._width is None or self._offsets is None or numbers is None:
            return None
        widest, dimension = self._width.allowed["instruction"], self._width.dimension
        inner, size = prod(self._shape[dimension + 1 :]), self._shape[dimension]
        first = (each for at, each in enumerate(self._offsets) if at // inner % size % widest == 0)
        common = gcd(widest, numbers.step, *first)
        return common & -common

    def _scattered(self, found: Width) -> str:
        apart = self._distances[found.dimension] if self._distances else None
        if apart is not None and abs(apart) > 1:
            return f"neighbors along dimension {found.dimension} are {abs(apart):,} elements apart"
        if self._offsets is None and found.allowed["contiguity"] == 1:
            return "neighbors are not known to be consecutive, so that each may be in a sector of its own"
        return "the lanes of a warp do not cover all consecutive addresses"


_WHY: dict[Limit, str] = {
    "instruction": "the maximum of one instruction",
    "layout": "the layout gives a thread {count} consecutive elements",
    "contiguity": "the compiler can prove only {count} consecutive addresses",
    "divisibility": "the compiler can prove only that the address is a multiple of {count} elements",
    "mask": "the compiler can prove only that the mask is equal for {count} consecutive elements",
}


def _matrix(survey: Survey, operation: Operation, emission: Emission, sharing: int) -> MatrixRow:
    emitted = emission.of(operation.line, "matrix")
    tile, source = "", ""
    for instruction in emitted:
        tile = tile or tile_of_instruction(instruction.name)
    operands = tuple(each.layout for each in operation.operands[:3])
    if tile:
        source = emission.source
    else:
        accumulator, operand = operands[2] if len(operands) > 2 else None, operands[0]
        if accumulator is not None and operand is not None:
            tile = tile_of_encoding(survey.layout(accumulator).encoding, survey.layout(operand).element_bits)
            source = "encoding" if tile else ""
    return MatrixRow(
        operation.line,
        next((each.name for each in operation.results if each.name), ""),
        operation.name,
        tile,
        source,
        operands,
        emitted,
        emission.source if emitted else "",
        sharing,
    )


def _element(survey: Survey, operation: Operation) -> tuple[str, int]:
    """Return the type of the moved element and its size in bytes."""
    pointed_to = next((found for each in operation.operands if (found := pointee(each.type))), None)
    for memory in ("registers", "shared"):
        for operand in (*operation.results, *operation.operands):
            if operand.layout is None or survey.layout(operand.layout).memory != memory:
                continue
            layout = survey.layout(operand.layout)
            if pointed_to in (None, layout.element):
                return layout.element, max(layout.element_bits, 8) // 8
    element = pointed_to or "i8"
    return element, bytes_of_element(element)
