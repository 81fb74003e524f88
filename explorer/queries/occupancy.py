"""The query for occupancy: the blocks that fit on a GPU, the limiting resource, and the instruction mix."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from explorer.analysis.assembly.instruction_mix import InstructionMix, instruction_mix
from explorer.analysis.graphs import NothingToDraw
from explorer.analysis.occupancy.theoretical import Occupancy, occupancy
from explorer.analysis.occupancy.waves import Waves, waves
from explorer.errors import InvalidRequest, NotAnswerable
from explorer.model.hardware import PROGRAMS_PER_LAUNCH, Target, find_target
from explorer.queries.query import Parameter, Query, Subject
from explorer.store import Record

Resource = Literal["warps", "registers", "shared memory"]
_SHARED_STEP_BYTES = 128


class Step(msgspec.Struct, frozen=True):
    """The number of blocks that fit from `value` of a resource on; `share` is the occupancy."""

    value: int
    blocks: int
    share: float


class Curve(msgspec.Struct, frozen=True):
    """Occupancy by one resource, with all other resources unchanged. The kernel needs `now`; the curve ends
    at `most`.

    `better` is the largest need with a higher occupancy; None if less of this resource alone does not help.
    """

    resource: Resource
    unit: str
    now: int
    most: int
    steps: list[Step]
    better: Step | None


class OccupancyDocument(msgspec.Struct, frozen=True):
    """Occupancy by the rules of the hardware, waves of a grid as a model, and the instruction mix.

    `grid` and `waves` are None without a launch and without a requested grid.
    """

    device: str
    multiprocessors: int
    warp_size: int
    warps_per_multiprocessor: int
    registers: int
    shared_bytes: int
    threads: int
    occupancy: Occupancy
    curves: list[Curve]
    grid: tuple[int, ...] | None
    blocks_per_program: int
    waves: Waves | None
    mix: InstructionMix | None


def _find(subject: Subject) -> OccupancyDocument:
    record = subject.record
    resources = record.result.resources
    if (
        resources is None
        or resources.registers is None
        or resources.shared_bytes is None
        or resources.threads is None
    ):
        raise NotAnswerable("The registers, shared memory or threads of the binary are unknown.")
    target = find_target(record.request.target)
    device = target.device
    found = occupancy(target.name, resources.threads, resources.registers, resources.shared_bytes)
    if found is None:
        raise NotAnswerable("The number of threads per block of this binary is unknown.")
    grid = _grid(subject.parameters, record)
    specialized = record.result.specialized
    clusters = specialized.options.get("num_ctas") if specialized else None
    blocks_per_program = clusters if isinstance(clusters, int) and clusters > 0 else 1
    multiprocessors = _multiprocessors(subject.parameters, target)
    return OccupancyDocument(
        device=device.name,
        multiprocessors=multiprocessors,
        warp_size=target.warp_size,
        warps_per_multiprocessor=device.multiprocessor.warps,
        registers=resources.registers,
        shared_bytes=resources.shared_bytes,
        threads=resources.threads,
        occupancy=found,
        curves=_curves(target, resources.threads, resources.registers, resources.shared_bytes),
        grid=grid,
        blocks_per_program=blocks_per_program,
        waves=None
        if grid is None
        else waves(math.prod(grid) * blocks_per_program, found.blocks_per_multiprocessor, multiprocessors),
        mix=_mix(record),
    )


def _curves(target: Target, threads: int, registers: int, shared_bytes: int) -> list[Curve]:
    machine = target.device.multiprocessor
    warp = target.warp_size

    def fit(warps: int, registers: int, shared_bytes: int) -> Occupancy:
        found = occupancy(target.name, warps * warp, registers, shared_bytes)
        assert found is not None
        return found

    warps = -(-threads // warp)
    most_warps = machine.warps_per_block
    return [
        _curve("warps", "warps", warps, most_warps, 1, lambda value: fit(value, registers, shared_bytes)),
        _curve(
            "registers",
            "registers",
            registers,
            machine.registers_per_thread,
            1,
            lambda value: fit(warps, value, shared_bytes),
        ),
        _curve(
            "shared memory",
            "bytes",
            shared_bytes,
            machine.shared_bytes_per_block,
            _SHARED_STEP_BYTES,
            lambda value: fit(warps, registers, value),
        ),
    ]


def _curve(
    resource: Resource, unit: str, now: int, most: int, step: int, fit: Callable[[int], Occupancy]
) -> Curve:
    steps: list[Step] = []
    best: Step | None = None
    share_now = fit(now).share
    for value in range(0 if step > 1 else 1, most + 1, step):
        found = fit(value)
        if not steps or (found.share, found.blocks_per_multiprocessor) != (steps[-1].share, steps[-1].blocks):
            steps.append(Step(value, found.blocks_per_multiprocessor, found.share))
        if value < now and found.share > share_now:
            best = Step(value, found.blocks_per_multiprocessor, found.share)
    return Curve(resource, unit, now, most, steps, best)


def _grid(parameters: Mapping[str, str], record: Record) -> tuple[int, ...] | None:
    asked = parameters.get("grid")
    if asked is None:
        specialized = record.result.specialized
        return specialized.grid if specialized else None
    parts = asked.split(",")
    if len(parts) > 3 or not all(part.isdecimal() and len(part) < 11 for part in parts):
        raise InvalidRequest(f"'grid' must be one to three numbers separated by commas, got {asked[:50]!r}.")
    grid = tuple(map(int, parts))
    if not all(0 < part <= PROGRAMS_PER_LAUNCH for part in grid):
        raise InvalidRequest(f"Each number of 'grid' must be from 1 to {PROGRAMS_PER_LAUNCH:,}.")
    return grid


def _multiprocessors(parameters: Mapping[str, str], target: Target) -> int:
    asked = parameters.get("multiprocessors")
    if asked is None:
        return target.device.multiprocessors
    if not (asked.isdecimal() and len(asked) < 6 and int(asked) > 0):
        raise InvalidRequest(f"'multiprocessors' must be a number from 1 to 99999, got {asked[:50]!r}.")
    return int(asked)


def _mix(record: Record) -> InstructionMix | None:
    for stage in record.result.stages.values():
        if stage.language in ("sass", "amdgcn"):
            try:
                return instruction_mix(record.text(stage.text), stage.language)
            except NothingToDraw:
                return None
    return None


QUERY = Query(
    name="occupancy",
    summary="The limit of the blocks on a multiprocessor, waves and tail of a grid, and the instruction mix.",
    version=4,
    document=OccupancyDocument,
    find=_find,
    parameters=(
        Parameter("grid", str, "One to three numbers with commas between, in place of the launch's grid."),
        Parameter(
            "multiprocessors", int, "Multiprocessors of the GPU (default: the target's best-known GPU)."
        ),
    ),
)
