"""Facts about the parameters of a kernel, each with the line of the source that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

_MOST_STATEMENTS = 20_000

#: The kinds of facts about a parameter (depth 0) or about the elements it points to (depth 1).
Fact = Literal[
    "address",  # memory is accessed there
    "descriptor",  # a tensor descriptor, whose methods access memory
    "integer",  # an offset, a bound, an operand of // or %
    "near integer",  # an operand beside an integer
    "float",  # an operand of a function or constant that only floats have
    "near float",  # an operand beside loaded elements
    "condition",  # a truth value
    "shape",  # the size of a block
    "count",  # the number of repetitions of an unrolled loop
    "bits",  # how many bits a number is shifted by
    "items",  # a tuple
    "dtype",  # an element type
    "function",  # called
    "layout",  # a layout of Gluon
    "dot",  # an operand of a matrix product
    "widened",  # converted to fp32 after it was loaded
    "element",  # `values` has the types that are stored
    "compared",  # `values` has the constants
]


@dataclass(frozen=True)
class Atom:
    """A parameter (depth 0), a value loaded from it (1), or a value loaded from a loaded address (2)."""

    name: str
    depth: int = 0


@dataclass
class Facts:
    """The facts about one atom, with the first line that shows each fact, and their constants."""

    lines: dict[Fact, int] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)

    def __contains__(self, fact: object) -> bool:
        return fact in self.lines


class Usage:
    """How a kernel uses its parameters."""

    def __init__(self) -> None:
        self._facts: dict[Atom, Facts] = {}
        #: The last line of the source, so far, in which an atom is an operand of arithmetic.
        self.operand_lines: dict[Atom, int] = {}
        self._budget = _MOST_STATEMENTS
        self.has_dot = False
        #: The parameters that are strides of neighboring elements, with the line that shows each.
        self.innermost_strides: dict[str, int] = {}

    def of(self, name: str, depth: int = 0) -> Facts:
        """Return the facts about a parameter, or about the elements that it points to."""
        return self._facts.get(Atom(name, depth), Facts())

    def note(self, atoms: Iterable[Atom], fact: Fact, line: int, value: Any = ...) -> None:
        for atom in atoms:
            facts = self._facts.setdefault(atom, Facts())
            facts.lines.setdefault(fact, line)
            if value is not ... and value not in facts.values:
                facts.values.append(value)

    def spend(self) -> None:
        self._budget -= 1
        if self._budget < 0:
            raise RecursionError("The kernel is too long to be analyzed.")
