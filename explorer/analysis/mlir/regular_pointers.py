"""Tensors of pointers that are regular: one base, and along each dimension a stride that stays the same.

In: a function of TTGIR. Out: the strides of each tensor of indices or pointers, and the loads of boxes that
matrix products use. A value has no strides if it depends on memory, on a remainder or quotient of an index of
the block, on a condition, or on two indices along the same dimension.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from explorer.analysis.mlir.operations import Function, Operation

#: The stride along each dimension on which a value depends: the names of its factors; () is a stride of 1.
Strides = Mapping[int, tuple[str, ...]]
_NOTHING: Strides = {}
_AXIS = re.compile(r"\{axis = (\d+) : i32\}")
#: A comparison of an index, on its left or on its right, that is true below a bound.
_BELOW = re.compile(r"arith\.cmpi (?:([su]lt)|[su]gt),")
_ZERO = re.compile(r"arith\.constant dense<0(?:\.0+e\+00)?>")
_SAME = ("tt.broadcast", "ttg.convert_layout", "arith.extsi", "arith.extui", "arith.index_cast")
_UNIFORM = ("arith.", "tt.splat", "tt.get_program_id", "tt.get_num_programs", "tt.addptr")
_LOADS = ("tt.load", "ttg.async_copy_global_to_local")
_PRODUCTS = ("tt.dot", "ttng.warp_group_dot", "ttng.tc_gen5_mma")
#: Operations that hand data on to a matrix product, and change no value.
_HAND_ON = (
    "ttg.convert_layout",
    "ttg.local_alloc",
    "ttg.local_load",
    "ttg.memdesc_index",
    "ttg.memdesc_subslice",
    "ttg.memdesc_trans",
    "ttg.memdesc_reinterpret",
    "tt.trans",
)
#: An index with more factors is left out.
_MOST_FACTORS = 8
#: A loop whose carried values depend on each other in a longer chain is left out.
_MOST_ROUNDS = 8


class RegularPointers:
    """The values of a function that are regular."""

    def __init__(self, function: Function) -> None:
        self._operations = sorted(function.operations, key=lambda each: each.line)
        self._made = {value: each for each in self._operations for value in each.results}
        #: The carried values of loops that are not regular.
        self._irregular: set[str] = set()
        self._strides: dict[str, Strides] = {}
        for _ in range(_MOST_ROUNDS):
            self._strides = self._read(function)
            if not (changed := self._changed_by_turns()):
                return
            self._irregular |= changed
        self._strides = {}

    def boxes(self) -> Iterator[Operation]:
        """Yield the loads in loops whose blocks are boxes with consecutive rows, for a matrix product.

        A mask may only compare indices of the block with bounds; elements outside are zero.
        """
        used = self._used_by_products()
        for each in self._operations:
            loop = each.parent
            if each.name not in _LOADS or loop is None or loop.name != "scf.for":
                continue
            is_copy = each.name != "tt.load"
            data = each.operands[1] if is_copy else each.results[0]
            pointer, more = each.operands[0], each.operands[1 + is_copy :]
            if self._root(data) in used and self._is_box(pointer, loop) and self._is_bound(more):
                yield each

    def _is_box(self, pointer: str, loop: Operation) -> bool:
        strides = self._strides.get(pointer)
        if strides is None or set(strides) != {0, 1} or strides[1]:
            return False
        factors = [self._made.get(name) for name in strides[0]]
        return all(made is None or not loop.line < made.line <= loop.end_line for made in factors)

    def _is_bound(self, mask_and_other: Sequence[str]) -> bool:
        """Return whether elements outside of bounds are zero, and no other elements are left out."""
        if not mask_and_other:
            return True
        mask, *other = mask_and_other
        made = self._made.get(other[0]) if other else None
        is_zero = not other or (made is not None and _ZERO.search(made.text) is not None)
        return is_zero and self._compares_with_bounds(mask)

    def _compares_with_bounds(self, mask: str) -> bool:
        waiting, seen = [mask], set()
        while waiting:
            value = waiting.pop()
            if value in seen or self._strides.get(value) == _NOTHING:
                continue
            seen.add(value)
            made = self._made.get(value)
            if made is None:
                return False
            if made.name in ("arith.andi", *_SAME, "tt.expand_dims"):
                waiting += made.operands
            elif below := _BELOW.search(made.text):
                index, bound = made.operands if below[1] else reversed(made.operands)
                is_index = [*self._strides.get(index, _NOTHING).values()] == [()]
                if not is_index or self._strides.get(bound) != _NOTHING:
                    return False
            else:
                return False
        return True

    def _used_by_products(self) -> set[str]:
        """Return the values and buffers that are operands of matrix products."""
        products = (each for each in self._operations if each.name in _PRODUCTS)
        return {self._root(value) for each in products for value in each.operands[:2]}

    def _root(self, value: str) -> str:
        """Return the buffer or the value that a value is a part or a copy of."""
        made = self._made.get(value)
        while made is not None and made.name in _HAND_ON and made.operands:
            value = made.operands[0]
            made = self._made.get(value)
        return value

    def _read(self, function: Function) -> dict[str, Strides]:
        arguments = function.operation.regions[0].blocks[0].arguments
        strides: dict[str, Strides] = dict.fromkeys(arguments, _NOTHING)
        for each in self._operations:
            if each.name == "scf.for":
                variable, *carried = each.regions[0].blocks[0].arguments
                if all(strides.get(bound) == _NOTHING for bound in each.own_operands):
                    strides[variable] = _NOTHING
                for argument, initial in zip(carried, each.initial, strict=False):
                    if initial in strides and argument not in self._irregular:
                        strides[argument] = strides[initial]
            elif len(each.results) == 1:
                found = _strides_of(each, strides)
                if found is not None:
                    strides[each.results[0]] = found
        return strides

    def _changed_by_turns(self) -> set[str]:
        """Return the carried values that the end of a turn gives other strides than its beginning."""
        changed = set()
        for each in self._operations:
            if each.name != "scf.for":
                continue
            block = each.regions[0].blocks[0]
            yielded = block.operations[-1].operands if block.operations else ()
            for argument, value in zip(block.arguments[1:], yielded, strict=False):
                if argument in self._strides and self._strides[argument] != self._strides.get(value):
                    changed.add(argument)
        return changed


def _strides_of(operation: Operation, known: Mapping[str, Strides]) -> Strides | None:
    """Return the strides of the result of an operation; None: it is not regular."""
    name = operation.name
    if name == "tt.make_range":
        return {0: ()}
    operands = [known.get(each) for each in operation.operands]
    if any(each is None for each in operands):
        return None
    given = [each for each in operands if each is not None]
    if name.startswith(_UNIFORM) and not any(given):
        return _NOTHING
    if name == "tt.expand_dims" and (axis := _AXIS.search(operation.text)):
        return {place + (place >= int(axis[1])): factors for place, factors in given[0].items()}
    if name in _SAME:
        return given[0]
    if name in ("arith.addi", "tt.addptr") and len(given) == 2:
        first, second = given
        return None if first.keys() & second.keys() else {**first, **second}
    if name == "arith.subi" and len(given) == 2 and not given[1]:
        return given[0]
    if name == "arith.muli" and len(given) == 2 and not (given[0] and given[1]):
        factor, index = operation.operands[1 if given[0] else 0], given[0] or given[1]
        if max(map(len, index.values())) < _MOST_FACTORS:
            return {place: (*factors, factor) for place, factors in index.items()}
    return None
