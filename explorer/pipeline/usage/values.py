"""The values of expressions while a kernel is evaluated, and how they combine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from explorer.pipeline.usage.facts import Atom

Kind = Literal["", "integer", "float", "descriptor"]

_LARGEST_ALTERNATIVES = 8


@dataclass(frozen=True)
class Value:
    """The possible values of an expression.

    `sums` has alternatives, each with the atoms that are its summands: an address is a summand. `inputs` are
    all atoms that the expression depends on. `callee` is the Python object that a name refers to.
    """

    kind: Kind = ""
    sums: frozenset[tuple[Atom, ...]] = frozenset()
    inputs: frozenset[Atom] = frozenset()
    dtype: str = ""
    callee: Any = None
    items: tuple[Value, ...] = ()
    constant: Any = ...

    @property
    def atoms(self) -> list[Atom]:
        """Return the atom that the expression is, apart from alternatives."""
        return [alternative[0] for alternative in self.sums if len(alternative) == 1]


NOTHING = Value()
INTEGER = Value("integer")


def direct(value: Value) -> Iterable[Atom]:
    """Return the parameters that an expression depends on, and the loaded element that it is."""
    return [atom for atom in value.inputs if not atom.depth] + [atom for atom in value.atoms if atom.depth]


def loaded(value: Value) -> Iterable[Atom]:
    """Return the loaded elements that an expression depends on."""
    return [atom for atom in value.inputs if atom.depth]


def added(left: Value, right: Value) -> frozenset[tuple[Atom, ...]]:
    """Return the alternatives of a sum."""
    pairs = [(*one, *other) for one in left.sums or [()] for other in right.sums or [()]]
    return frozenset(pair for pair in pairs[:_LARGEST_ALTERNATIVES] if pair)


def join(values: Iterable[Value]) -> Value:
    """Return the value of an expression that is one of several values."""
    values = list(values)
    if len(values) == 1:
        return values[0]
    kinds = {value.kind for value in values if value.kind}
    dtypes = {value.dtype for value in values}
    return Value(
        kinds.pop() if len(kinds) == 1 else "",
        frozenset(
            sorted({each for value in values for each in value.sums}, key=repr)[:_LARGEST_ALTERNATIVES]
        ),
        frozenset(atom for value in values for atom in value.inputs),
        dtypes.pop() if len(dtypes) == 1 else "",
    )
