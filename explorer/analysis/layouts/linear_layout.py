"""Linear layouts: maps over GF(2) from hardware coordinates to the coordinates of a tensor.

A layout has inputs (register, lane, warp, block; or an offset) of 2^n places each. Bit i of an input adds, by
exclusive or, its basis to the coordinates of the element: the element of a place is the sum of the bases
of the bits that are set. Distributed layouts say which element a register of a thread holds; memory
layouts say which element lies at an offset. Their properties follow by linear algebra on small integers.

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
    """A layout does not reach an element."""


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
        """Return the number of places of an input."""
        return 1 << len(self.bases(name))

    def bases(self, name: str) -> tuple[Coordinates, ...]:
        """Return the bases of an input; none if there is no such input."""
        return dict(self.inputs).get(name, ())

    def apply(self, place: Place) -> Coordinates:
        """Return the element at a place; missing inputs are 0."""
        return self.coordinates_of(self.element_index(place))

    def element_index(self, place: Place) -> int:
        """Return the row-major index of the element at a place."""
        total = 0
        for name, bases in self.flat_bases:
            value = place.get(name, 0)
            for bit, basis in enumerate(bases):
                if value >> bit & 1:
                    total ^= basis
        return total

    def owners(self, element: Coordinates) -> list[dict[str, int]]:
        """Return all places of an element, in order; none if the layout does not reach it."""
        try:
            first = self._solver.solve(self._index_of(element))
        except NoSolution:
            return []
        return [self._place(first ^ free) for free in sorted(_span(self._solver.kernel))]

    def places(self) -> Iterator[dict[str, int]]:
        for number in range(1 << self.bits):
            yield self._place(number)

    # --- what kind of map it is -------------------------------------------------------------------

    @cached_property
    def flat_bases(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The bases, each as the index of an element in row-major order."""
        return tuple((name, tuple(map(self._index_of, bases))) for name, bases in self.inputs)

    @property
    def bits(self) -> int:
        """The bits of all inputs together."""
        return sum(len(bases) for _, bases in self.inputs)

    @property
    def rank(self) -> int:
        """The bits of the elements that the layout reaches."""
        return self._solver.rank

    @property
    def replication(self) -> int:
        """The number of places that hold the same element."""
        return 1 << len(self._solver.kernel)

    def free_bits(self, name: str) -> int:
        """Return a mask of the bits of an input that do not matter, given the other inputs and lower bits.

        Places that differ only in these bits hold the same element: this is replication.
        """
        mask = 0
        basis = _Basis()
        for other, bases in self.flat_bases:
            if other == name:
                break
            for vector in bases:
                basis.add(vector)
        for bit, vector in enumerate(dict(self.flat_bases).get(name, ())):
            if not basis.add(vector):
                mask |= 1 << bit
        return mask

    def contiguity(self, dimension: int, name: str = "register") -> int:
        """Return how many consecutive elements the lowest places of an input hold, from an aligned start."""
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
        """Return the sizes of the smallest box at the origin around the elements that one input reaches."""
        return tuple(
            1 + _largest_sum([basis[dimension] for basis in self.bases(name)])
            for dimension in range(len(self.shape))
        )

    # --- algebra ----------------------------------------------------------------------------------

    def invert_and_compose(self, other: LinearLayout) -> LinearLayout:
        """Return for each place a place of `other` that holds the same element.

        Raises:
            NoSolution: `other` does not hold all elements that this one holds.
        """
        names = tuple(name for name, _ in other.inputs)
        return LinearLayout(
            tuple(
                (name, tuple(other._coordinates(names, other._solver.solve(vector)) for vector in bases))
                for name, bases in self.flat_bases
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
        """The elimination over the bases of all inputs, the lowest bits of the first input first."""
        basis = _Basis()
        for _, bases in self.flat_bases:
            for vector in bases:
                basis.add(vector)
        return basis

    def _index_of(self, coordinates: Sequence[int]) -> int:
        return sum(value << shift for value, shift in zip(coordinates, self._shifts, strict=True))

    def coordinates_of(self, number: int) -> Coordinates:
        """Return the coordinates of an element by its row-major index."""
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
    """Return whether every wanted vector is a sum of some of the vectors."""
    basis = _Basis()
    for vector in vectors:
        basis.add(vector)
    return all(basis.reduce(vector)[0] == 0 for vector in wanted)


class _Basis:
    """Gaussian elimination, one vector at a time, which records the vectors that each row is the sum of."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[int, int]] = {}
        self._count = 0
        self.kernel: list[int] = []

    @property
    def rank(self) -> int:
        return len(self._rows)

    def add(self, vector: int) -> bool:
        """Add a vector; return whether it is independent of the previous vectors."""
        left, combination = self.reduce(vector)
        combination ^= 1 << self._count
        self._count += 1
        if left == 0:
            self.kernel.append(combination)
            return False
        self._rows[left.bit_length() - 1] = (left, combination)
        return True

    def reduce(self, vector: int) -> tuple[int, int]:
        """Reduce a vector; return the rest, and the vectors that were subtracted."""
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
        """Return the largest sum of some of the vectors."""
        largest = 0
        for leading in sorted(self._rows, reverse=True):
            largest = max(largest, largest ^ self._rows[leading][0])
        return largest

    def solve(self, vector: int) -> int:
        """Return the vectors whose sum is this vector, as bits."""
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
