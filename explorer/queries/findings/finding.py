"""A finding: a property of a kernel that costs speed or correctness, with its evidence and its cause."""

from __future__ import annotations

from typing import Literal

import msgspec

from explorer.model import LineEdit, Scalar

#: The origin of a value. "observed": a compiler or a tool reports it. "modelled": computed by the rules of
#: the compiler or of the hardware. "counted": the interpreter counted it. "measured": a GPU measured it.
Basis = Literal["observed", "modelled", "counted", "measured"]
#: "warning": the kernel can be faster or is wrong. "note": a fact that readers of the figures must know.
Severity = Literal["warning", "note"]


class Value(msgspec.Struct, frozen=True):
    """A number that supports a finding. `unit` is "" for counts and "%" for shares of 1."""

    name: str
    value: float
    unit: str
    basis: Basis


class Cost(msgspec.Struct, frozen=True):
    """The cost of a finding: the share `share` of the resource or of the time `of`."""

    share: float
    of: str
    basis: Basis


class Change(msgspec.Struct, frozen=True):
    """A change that may remove a finding: compiler options, constexpr arguments, and lines of the source.

    `may_be_faster` is false if it makes no difference to the time of this launch. `is_exact` is false if it
    rounds the results otherwise: the interpreter does not round as the GPU does, and cannot compare them.
    `is_correction`: the kernel is wrong without it, so that results and times are not compared.
    """

    text: str
    options: dict[str, Scalar] = {}
    constants: dict[str, Scalar] = {}
    edits: tuple[LineEdit, ...] = ()
    may_be_faster: bool = True
    is_exact: bool = True
    is_correction: bool = False


class Finding(msgspec.Struct, frozen=True):
    """One finding. Names between backticks in `text`, `cause` and `advice` are code.

    `text` is one sentence with the numbers, `cause` the one cause that binds ("": not known), `advice` a
    change that removes the finding. `source_line` and `ttgir_line` are 0 if there is none. `lines` are ranges
    of lines of the machine code, each with its first and its last line. `cost` is None if it is not known.
    `changes` are compiled to see whether they remove the finding, the most promising first.
    `tour` is the name of a tour, and `terms` are terms of the glossary.
    """

    rule: str
    severity: Severity
    text: str
    evidence: tuple[Value, ...] = ()
    cause: str = ""
    advice: str = ""
    source_line: int = 0
    ttgir_line: int = 0
    lines: tuple[tuple[int, int], ...] = ()
    cost: Cost | None = None
    tour: str = ""
    terms: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
