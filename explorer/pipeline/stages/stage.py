"""What a stage is: a name, and how its text is read from what the compiler made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from explorer.model import Location
from explorer.pipeline.locations import LocationTable


@dataclass(frozen=True)
class Artifact:
    """What the compiler made: an MLIR module, a text, a binary, or (for the AST) function definitions.

    `known_locations` are those of the stage before, for a stage that names less of them.
    """

    value: Any
    known_locations: tuple[Location, ...] = ()


@dataclass(frozen=True)
class StageText:
    """A stage as read: the text to show, what the tool printed, and the location of each shown line."""

    text: str
    raw: str | None
    table: LocationTable


@dataclass(frozen=True)
class StageKind:
    """One kind of stage. `produced_by` is Triton's name of the compile step whose result is read.

    `backends` are the Triton backends on whose way to the binary it always is.
    """

    name: str
    title: str
    language: str
    produced_by: str
    read: Callable[[Artifact], StageText]
    backends: tuple[str, ...] = ("cuda", "hip")
