"""The type of a stage: a name, and a function that reads its text from an artifact of the compiler."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.model import Location
from explorer.pipeline.locations import LocationTable


@dataclass(frozen=True)
class Artifact:
    """An artifact of the compiler: an MLIR module, a text, a binary, or (for the AST) function definitions.

    `known_locations` are the locations of the previous stage, for a stage with less location information.
    `kernel` is the kernel to show from a binary with several kernels; "": all.
    """

    value: Any
    known_locations: tuple[Location, ...] = ()
    kernel: str = ""


@dataclass(frozen=True)
class StageText:
    """A stage as read: the text to show, the output of the tool, and the locations of each shown line.

    `raw_lines[i]` is the index of the line of the artifact's text that line i of `text` is made from. It is
    empty for a stage that cannot be compiled from its text.
    """

    text: str
    raw: str | None
    table: LocationTable
    raw_lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class StageKind:
    """One kind of stage. `produced_by` is Triton's name of the compile step whose artifact is read.

    `backends` are the Triton backends that have this stage. `summary` describes the stage in at most three
    words, for its card. `kernel` finds the name of the kernel in the text of a stage from which the compiler
    can continue; None: it cannot.
    """

    name: str
    title: str
    language: str
    produced_by: str
    read: Callable[[Artifact], StageText]
    backends: tuple[str, ...] = ("cuda", "hip")
    summary: str = ""
    kernel: re.Pattern[str] | None = None
