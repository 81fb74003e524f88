"""The answer of the compiler query `registers`: the live registers of a binary."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LiveAt:
    """The live registers at the instruction at `address`, a byte offset, of `function`."""

    function: str
    address: int
    general: int
    uniform: int
    predicate: int
    uniform_predicate: int


@dataclass(frozen=True, slots=True)
class Named:
    """The number of general registers that `function` uses: one more than the highest number."""

    function: str
    general: int


@dataclass(frozen=True, slots=True)
class LiveRegisters:
    """The live registers of each instruction and each function, as `tool` lists them.

    Without a tool, `reason` says why.
    """

    instructions: tuple[LiveAt, ...]
    named: tuple[Named, ...]
    reason: str = ""
    tool: str = ""
