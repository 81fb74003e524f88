"""Tours: guided readings of real results, one TOML file for each.

In: the files of this folder. Out: a `Tour` for each, in order, with its steps. Each step names a launch of a
kernel of the gallery, panes, a place in a stage, and claims about the result. Tests check every claim with
every Triton version. A step may have a table of times, which were measured on a GPU (`times`).
"""

from __future__ import annotations

import re
import tomllib
import zlib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from explorer.lessons import Claim, LessonLaunch
from explorer.tours.times import Machine, MeasuredRun, MeasuredTour, address, read_measured

#: The files of this folder, in order.
TOURS = (
    "programs",
    "ttir",
    "layouts",
    "reduction",
    "shared_memory",
    "matrix_cores",
    "pipelining",
    "occupancy",
    "attention",
    "tensor_memory",
    "machine_code",
    "roofline",
)


class TourPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a stage: the first, or the `number`-th from 1 on, in which a pattern is found."""

    stage: str
    pattern: str
    number: int = 1

    def is_shown_by(self, stage: str, line: str) -> bool:
        return self.stage == stage and re.search(self.pattern, line) is not None


class TourQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question that a step asks before it shows the result. `answer` is the index of the right choice, from
    0 on.

    Without choices, the answer is the number that the claim with the index `claim` finds. `why` is shown
    after the answer.
    """

    text: str
    why: str
    choices: tuple[str, ...] = ()
    answer: int = 0
    claim: int | None = None


class TourRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a table of times: a launch by the benchmark of its example, at these sizes.

    `measured` is the recorded launch; None: nothing was recorded.
    """

    label: str
    launch: LessonLaunch
    sizes: dict[str, int]
    measured: MeasuredRun | None = None


class TimeClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement about rows of a table of times, counted from 0 on.

    The number is how many times as long `run` takes as `than`; None: the share of the table's peak that `run`
    reaches, in percent. It must be from `least` to `most`. `found` is the recorded number; None: there is
    none.
    """

    says: str
    run: int
    least: float
    most: float
    than: int | None = None
    found: float | None = None


class TourTimes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of times that were measured on a GPU.

    `about` describes the data of the launches. `peak` is the ceiling that their rates are compared with:
    "dram", or a kind of operation; "": only times are shown. `machine` is None if nothing was recorded.
    """

    about: str
    runs: tuple[TourRun, ...]
    claims: tuple[TimeClaim, ...]
    peak: str = ""
    machine: Machine | None = None


class TourStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caption about a launch, with the layout of the panes as an address has it.

    `beside` is a line in another stage of the panes. `teaches` are the passes, kinds of layouts and hints
    that the page links to this step.
    """

    title: str
    caption: str
    launch: LessonLaunch
    panes: str
    look_at: TourPlace
    claims: tuple[Claim, ...]
    beside: TourPlace | None = None
    question: TourQuestion | None = None
    teaches: tuple[str, ...] = ()
    times: TourTimes | None = None


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
    return next((tour for tour in load_tours() if tour.name == name), None)


@cache
def revision() -> int:
    """Return a number that changes with the text of any tour."""
    return zlib.crc32("".join(map(_text, TOURS)).encode())


def _text(name: str) -> str:
    return (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")


def _read(name: str) -> Tour:
    """Read a tour. A step's launch inherits missing fields from the tour's launch, and a row from the step's
    launch.
    """
    document = tomllib.loads(_text(name))
    measured = read_measured(name)
    launch: dict[str, Any] = document.pop("launch", {})
    for step in document["steps"]:
        step["launch"] = launch | step.get("launch", {})
        if "times" in step:
            _complete(step["times"], step["launch"], measured)
    return msgspec.convert({"name": name, **document}, Tour)


def _complete(times: dict[str, Any], launch: dict[str, Any], measured: MeasuredTour | None) -> None:
    """Add the missing fields of the rows of a table, and their recorded times."""
    sizes = times.pop("sizes", {})
    for row in times["runs"]:
        row["launch"] = msgspec.convert(launch | row.get("launch", {}), LessonLaunch)
        row["sizes"] = sizes | row.get("sizes", {})
        row["measured"] = measured.runs.get(address(row["launch"], row["sizes"])) if measured else None
    if measured:
        times["machine"] = measured.machine
        rows = [row["measured"] for row in times["runs"]]
        for claim in times["claims"]:
            claim["found"] = _found(claim, rows, times.get("peak", ""), measured.machine)


def _found(
    claim: dict[str, Any], rows: list[MeasuredRun | None], peak: str, machine: Machine
) -> float | None:
    run, than = rows[claim["run"]], rows[claim["than"]] if "than" in claim else None
    if run is None:
        return None
    if "than" in claim:
        return run.time_ns / than.time_ns if than else None
    rate = run.rate(peak)
    return 100 * rate / machine.peaks[peak] if rate is not None else None
