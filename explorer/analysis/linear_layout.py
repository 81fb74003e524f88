"""Linear layouts: maps over GF(2) from hardware coordinates to the coordinates of a tensor.

A layout has inputs (register, lane, warp, block; or an offset) of 2^n places each. Bit i of an input adds, by
exclusive or, its basis to the coordinates of the element: the element of a place is the sum of the bases
of the bits that are set. Distributed layouts say which element a register of a thread holds; memory
layouts say which element lies at an offset. Every question about them is linear algebra on small integers.

Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (Zhou et al.),
and `LinearLayout` of Triton 3.6 and 3.9, whose `apply` these agree with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

Coordinates = tuple[int, ...]
Place = Mapping[str, int]


class NoSolution(ValueError):
    """A layout does not reach what it is asked to reach."""


@dataclass(frozen=True)
class LinearLayout:
    """A linear map from places to elements of a tensor of `shape`, whose sizes are powers of two.

    `inputs` are the names of the inputs and, for each of their bits from the lowest, its basis.
    """

    inputs: tuple[tuple[str, tuple[Coordinates, ...]], ...]
    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, bases in self.inputs:
            for basis in bases:
                if len(basis) != len(self.shape) or any(
                    not 0 <= coordinate < size for coordinate, size in zip(basis, self.shape, strict=True)
                ):
                    raise ValueError(f"A basis of {name}, {basis}, does not fit a tensor of {self.shape}.")

    # --- places and elements ----------------------------------------------------------------------

    def size(self, name: str) -> int:
        """How many places the input has."""
        return 1 << len(self.bases(name))

    def bases(self, name: str) -> tuple[Coordinates, ...]:
        """The bases of an input; none where there is no such input."""
        return dict(self.inputs).get(name, ())

    def apply(self, place: Place) -> Coordinates:
        """The element at a place; inputs that are left out are 0."""
        return self._unpacked(self.apply_packed(place))

    def apply_packed(self, place: Place) -> int:
        """The same as one number: the index of the element in row-major order."""
        total = 0
        for name, packed in self.packed:
            value = place.get(name, 0)
            for bit, basis in enumerate(packed):
                if value >> bit & 1:
                    total ^= basis
        return total

    def owners(self, element: Coordinates) -> list[dict[str, int]]:
        """All places of an element, in order; none where the layout does not reach it."""
        try:
            first = self._solver.solve(self._packed(element))
        except NoSolution:
            return []
        return [self._place(first ^ free) for free in sorted(_span(self._solver.kernel))]

    def places(self) -> Iterator[dict[str, int]]:
        """All places."""
        for number in range(1 << self.bits):
            yield self._place(number)

    # --- what kind of map it is -------------------------------------------------------------------

    @cached_property
    def packed(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The bases, each as the index of an element in row-major order."""
        return tuple((name, tuple(map(self._packed, bases))) for name, bases in self.inputs)

    @property
    def bits(self) -> int:
        """The bits of all inputs together."""
        return sum(len(bases) for _, bases in self.inputs)

    @property
    def rank(self) -> int:
        """The bits of the elements that it reaches."""
        return self._solver.rank

    @property
    def replication(self) -> int:
        """How many places hold the same element."""
        return 1 << len(self._solver.kernel)

    def free_bits(self, name: str) -> int:
        """The bits of an input that do not matter, given the other inputs and its lower bits, as a mask.

        Places that differ in them hold the same element: that is what replication is made of.
        """
        mask = 0
        basis = _Basis()
        for other, packed in self.packed:
            if other == name:
                break
            for vector in packed:
                basis.add(vector)
        for bit, vector in enumerate(dict(self.packed).get(name, ())):
            if not basis.add(vector):
                mask |= 1 << bit
        return mask

    def contiguity(self, dimension: int, name: str = "register") -> int:
        """How many neighbours along a dimension the lowest places of an input hold, from an aligned start."""
        count = 1
        wanted = [0] * len(self.shape)
        bases = set(self.bases(name))
        while count < self.shape[dimension]:
            wanted[dimension] = count
            if tuple(wanted) not in bases:
                break
            count *= 2
        return count

    def tile(self, name: str) -> Coordinates:
        """The sizes of the smallest box, at the origin, around what one input reaches alone."""
        return tuple(
            1 + _largest_sum([basis[dimension] for basis in self.bases(name)])
            for dimension in range(len(self.shape))
        )

    # --- algebra ----------------------------------------------------------------------------------

    def invert_and_compose(self, other: LinearLayout) -> LinearLayout:
        """For each place here, a place of `other` that holds the same element.

        Raises:
            NoSolution: `other` does not hold all elements that this one holds.
        """
        names = tuple(name for name, _ in other.inputs)
        return LinearLayout(
            tuple(
                (name, tuple(other._coordinates(names, other._solver.solve(vector)) for vector in packed))
                for name, packed in self.packed
            ),
            tuple(other.size(name) for name in names),
        )

    # --- elements and places as numbers -----------------------------------------------------------

    @cached_property
    def _shifts(self) -> tuple[int, ...]:
        widths = [_bits(size) for size in self.shape]
        return tuple(sum(widths[dimension + 1 :]) for dimension in range(len(widths)))

    @cached_property
    def _solver(self) -> _Basis:
        """Elimination over the bases of all inputs, the lowest bits of the first input first."""
        basis = _Basis()
        for _, packed in self.packed:
            for vector in packed:
                basis.add(vector)
        return basis

    def _packed(self, coordinates: Sequence[int]) -> int:
        return sum(value << shift for value, shift in zip(coordinates, self._shifts, strict=True))

    def _unpacked(self, number: int) -> Coordinates:
        return tuple(number >> shift & size - 1 for size, shift in zip(self.shape, self._shifts, strict=True))

    def _place(self, number: int) -> dict[str, int]:
        place = {}
        for name, bases in self.inputs:
            place[name] = number & (1 << len(bases)) - 1
            number >>= len(bases)
        return place

    def _coordinates(self, names: Sequence[str], number: int) -> Coordinates:
        place = self._place(number)
        return tuple(place[name] for name in names)


def spans(vectors: Sequence[int], wanted: Sequence[int]) -> bool:
    """Whether every wanted vector is a sum of some of the vectors."""
    basis = _Basis()
    for vector in vectors:
        basis.add(vector)
    return all(basis.reduce(vector)[0] == 0 for vector in wanted)


class _Basis:
    """Gaussian elimination, one vector at a time, remembering which vectors each row is the sum of."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[int, int]] = {}
        self._count = 0
        self.kernel: list[int] = []

    @property
    def rank(self) -> int:
        return len(self._rows)

    def add(self, vector: int) -> bool:
        """Take a vector in; return whether it is independent of those before."""
        left, combination = self.reduce(vector)
        combination ^= 1 << self._count
        self._count += 1
        if left == 0:
            self.kernel.append(combination)
            return False
        self._rows[left.bit_length() - 1] = (left, combination)
        return True

    def reduce(self, vector: int) -> tuple[int, int]:
        """What is left of a vector, and which of the vectors were taken from it."""
        combination = 0
        while vector:
            row = self._rows.get(vector.bit_length() - 1)
            if row is None:
                # Lower bits may still be reducible; they do not matter to whether something is left.
                return vector, combination
            vector ^= row[0]
            combination ^= row[1]
        return 0, combination

    def largest_sum(self) -> int:
        """The largest number that is a sum of some of the vectors."""
        largest = 0
        for leading in sorted(self._rows, reverse=True):
            largest = max(largest, largest ^ self._rows[leading][0])
        return largest

    def solve(self, vector: int) -> int:
        """The vectors, as bits, whose sum is this one."""
        left, combination = self.reduce(vector)
        if left:
            raise NoSolution("The layout does not reach this element.")
        return combination


def _largest_sum(vectors: Sequence[int]) -> int:
    basis = _Basis()
    for vector in vectors:
        basis.add(vector)
    return basis.largest_sum()


def _span(vectors: Sequence[int]) -> list[int]:
    total = [0]
    for vector in vectors:
        total += [each ^ vector for each in total]
    return total


def _bits(size: int) -> int:
    if size < 1 or size & size - 1:
        raise ValueError(f"{size} is not a power of two.")
    return size.bit_length() - 1
