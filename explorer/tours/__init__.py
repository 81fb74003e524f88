"""Tours: guided readings of real results, one TOML file for each.

In: the files of this folder. Out: a `Tour` for each, in order, with its steps. Each step names a launch of a
kernel of the gallery, panes, a place in a stage, and claims about the result. Tests check every claim with
every Triton version.
"""

from __future__ import annotations

import tomllib
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from explorer.lessons import Claim, LessonLaunch

#: The files of this folder, in order.
TOURS = (
    "programs",
    "ttir",
    "layouts",
    "reduction",
    "shared_memory",
    "matrix_cores",
    "attention",
    "tensor_memory",
    "machine_code",
)


class TourPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a stage: the first, or the `number`-th from 1 on, in which a pattern is found."""

    stage: str
    pattern: str
    number: int = 1


class TourQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a step asks before it shows. `answer` is the index of the right one of `choices`, from 0 on.

    Without choices, the answer is the number that the claim with the index `claim` finds. `why` is shown
    after the answer.
    """

    text: str
    why: str
    choices: tuple[str, ...] = ()
    answer: int = 0
    claim: int | None = None


class TourStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caption about a launch, with the layout of the panes as an address has it.

    `teaches` are the passes, kinds of layouts and hints that the page links to this step.
    """

    title: str
    caption: str
    launch: LessonLaunch
    panes: str
    look_at: TourPlace
    claims: tuple[Claim, ...]
    question: TourQuestion | None = None
    teaches: tuple[str, ...] = ()


class Tour(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question about lowering, answered in steps."""

    name: str
    title: str
    question: str
    steps: tuple[TourStep, ...]


@cache
def load_tours() -> tuple[Tour, ...]:
    """Read all tours, in order."""
    return tuple(_read(name) for name in TOURS)


def find_tour(name: str) -> Tour | None:
    """Return the tour with this name, or None."""
    return next((tour for tour in load_tours() if tour.name == name), None)


@cache
def revision() -> int:
    """Return a number that changes with the text of any tour."""
    return zlib.crc32("".join(map(_text, TOURS)).encode())


def _text(name: str) -> str:
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")


def _read(name: str) -> Tour:
    """Read a tour. What a step's launch leaves out is that of the tour's launch."""
    document = tomllib.loads(_text(name))
    launch: dict[str, Any] = document.pop("launch", {})
    for step in document["steps"]:
        step["launch"] = launch | step.get("launch", {})
    return msgspec.convert({"name": name, **document}, Tour)
