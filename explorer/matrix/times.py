"""The measured time of a cell: from a run of its kernel on a GPU, or from a profile."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Literal

import msgspec

from explorer.analysis.roofline.facts import preferred_timing
from explorer.model.measurements import Autotuning, Counters, LaunchFacts, RunArgument, Timings
from explorer.profiles.read import Profiles
from explorer.runs.documents import environment_of
from explorer.store import Record, Store

#: How many runs of a kernel are searched for a time, the newest first.
_MOST_RUNS = 5
#: Longest name of a GPU, and longest text of sizes; a run can forge any.
_MOST_CHARACTERS = 200


class CellTime(msgspec.Struct, frozen=True):
    """The median time of a launch. `run` is the run or the profile that has measured it on `gpu`.

    `sizes` are the shapes of the tensors and the integers of the launch, without strides: "a, b 64×64, M=64".
    """

    nanoseconds: float
    gpu: str
    sizes: str
    run: str
    url: str
    source: Literal["run", "profile"]


def cell_time(store: Store, profiles: Profiles, record: Record) -> CellTime | None:
    """Return the time of the newest timed run of a compilation, or the time of a matching profile."""
    for run in store.runs(record.request, _MOST_RUNS):
        if (found := _timed(run)) is not None:
            return _time(run, record, found, "run")
    for profile, match in profiles.matching(record):
        if match == "exact" and (found := _timed(profile.record)) is not None:
            return _time(profile.record, record, found, "profile")
        is_like = match == "other config" and record.request.triton == profile.request.triton
        if is_like and (found := _tuned(profile.record, record)) is not None:
            return _time(profile.record, record, found, "profile")
    return None


def _time(run: Record, record: Record, nanoseconds: float, source: Literal["run", "profile"]) -> CellTime:
    environment = environment_of(run)
    launch = run.measured("launch", LaunchFacts)
    return CellTime(
        nanoseconds,
        environment.gpu[:_MOST_CHARACTERS] if environment else "",
        _sizes(launch.arguments)[:_MOST_CHARACTERS] if launch else "",
        run.id,
        f"/k/{record.id}#panes=run:{run.id}",
        source,
    )


def _sizes(arguments: tuple[RunArgument, ...]) -> str:
    """Return the shapes of tensors and the values of integers, which are the size of the problem."""
    tensors = [(each.shape, each.name) for each in arguments if each.shape]
    shapes = [
        f"{', '.join(name for _, name in members)} {'×'.join(map(str, shape))}"
        for shape, members in groupby(tensors, key=lambda tensor: tensor[0])
    ]
    integers = [
        f"{each.name}={each.value}"
        for each in arguments
        if re.fullmatch(r"[iu]\d+", each.type) and each.value is not None and "stride" not in each.name
    ]
    return ", ".join([*shapes, *integers])


def _timed(run: Record) -> float | None:
    timings, counters = run.measured("timings", Timings), run.measured("counters", Counters)
    timing = preferred_timing(timings, counters) if timings is not None else None
    return timing.median_ns if timing else None


def _tuned(run: Record, record: Record) -> float | None:
    """Return the time of the configuration of a compilation that a run has timed with the others."""
    specialized, asked = record.result.specialized, record.request
    tuning = run.measured("autotuning", Autotuning)
    is_same_launch = specialized is not None and specialized.launch == run.request.launch
    if tuning is None or specialized is None or not is_same_launch or asked.options or asked.arguments:
        return None
    return next((each.median_ns for each in tuning.configs if each.config == specialized.config), None)
