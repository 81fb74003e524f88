"""Exercises: kernels to change until the compiler's answer meets a goal, one TOML file for each.

In: the files of this folder. Out: an `Exercise` for each, from easy to hard. Tests compile the start and the
solution of each with every Triton version, and run both.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from explorer.lessons import Claim, LessonLaunch

#: The files of this folder, from easy to hard.
EXERCISES = (
    "one_warp",
    "mask_tail",
    "coalesced_rows",
    "divisible_stride",
    "contiguous_period",
    "tensor_cores",
    "one_layout",
    "bank_conflicts",
    "fewer_registers",
    "smaller_pipeline",
    "pipelined_loop",
    "warp_group",
    "one_pass",
)


class Exercise(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kernel to change until all goals hold.

    `launch` has the source to start from. `solution` has parts of the source and their replacements in a
    source that meets the goals. `reference` is torch code over the kernel's arguments by name, with which a
    run in Triton's interpreter compares the results of the kernel. `hints` are shown one after another,
    `after` when all goals hold.
    """

    name: str
    title: str
    level: Literal["easy", "medium", "hard"]
    task: str
    launch: LessonLaunch
    reference: str
    goals: tuple[Claim, ...]
    hints: tuple[str, ...]
    solution: dict[str, str]
    after: str
    panes: str = "stage:ttgir@60+resources@40"

    @property
    def solved_source(self) -> str:
        """The source with the solution in it."""
        source = self.launch.source
        for old, new in self.solution.items():
            source = source.replace(old, new)
        return source


@cache
def load_exercises() -> tuple[Exercise, ...]:
    """Read all exercises, from easy to hard."""
    return tuple(_read(name) for name in EXERCISES)


def find_exercise(name: str) -> Exercise | None:
    return next((exercise for exercise in load_exercises() if exercise.name == name), None)


def _read(name: str) -> Exercise:
    text = (files(__name__) / f"{name}.toml").read_text(encoding="utf-8")
    return msgspec.convert({"name": name, **tomllib.loads(text)}, Exercise)
