"""The input of a roofline: the documents of a run, and facts about the compilation of its kernel."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from explorer.analysis.assembly.heat import HeatDocument
from explorer.analysis.occupancy.theoretical import Occupancy, occupancy
from explorer.analysis.occupancy.waves import Waves, waves
from explorer.analysis.roofline.ceilings import Hardware, hardware
from explorer.analysis.roofline.documents import TakenTime
from explorer.analysis.roofline.numbers import amount, share, time_ns
from explorer.analysis.roofline.static_work import StaticWork
from explorer.model import Resources
from explorer.model.hardware import Target
from explorer.model.measurements import (
    Autotuning,
    Counters,
    Counts,
    Environment,
    LaunchFacts,
    Roofs,
    Samples,
    Sweep,
    Timing,
    Timings,
)

#: The stages of one loop.
_LOOP_STAGES = re.compile(r"\brange\([^#\n]*\bnum_stages\s*=")
_MOST_BLOCKS = 2**62
_MOST_RESOURCE = 2**32


def sets_loop_stages(source: str) -> bool:
    """Return whether a loop of the source sets a number of stages of its own."""
    return _LOOP_STAGES.search(source) is not None


@dataclass(frozen=True)
class Facts:
    """The documents that a run has, and facts about its compilation.

    `tensor_instructions`: whether the machine code has instructions for the matrix units; None if unknown.
    `blocks_per_program` is more than one if a program is a cluster.
    `stages` is the compiler's num_stages; None if it is unknown. `autotuning` has the times of the
    configurations for the same launch, `sizes` the sizes of the launch if it is part of the `sweep`.
    `failure` is the error of a failed run.
    """

    target: Target
    environment: Environment | None = None
    launch: LaunchFacts | None = None
    timings: Timings | None = None
    counters: Counters | None = None
    counts: Counts | None = None
    samples: Samples | None = None
    roofs: Roofs | None = None
    resources: Resources | None = None
    static: StaticWork | None = None
    heat: HeatDocument | None = None
    tensor_instructions: bool | None = None
    blocks_per_program: int = 1
    stages: int | None = None
    autotuning: Autotuning | None = None
    sweep: Sweep | None = None
    sizes: Mapping[str, float] = field(default_factory=dict)
    failure: str = ""
    source_lines: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def hardware(self) -> Hardware:
        return hardware(self.environment, self.target)

    @property
    def is_modelled(self) -> bool:
        """Whether the run was not on a GPU."""
        return self.environment is None or not self.environment.gpu

    @property
    def config(self) -> int | None:
        """The index of the autotune configuration of the launch."""
        return self.launch.config if self.launch else None

    @property
    def is_counted(self) -> bool:
        """Whether the operations were counted, by the hardware or by the interpreter."""
        return (self.counters is not None and bool(self.counters.operations)) or self.counts is not None

    @property
    def busy_share(self) -> float:
        """The share of the multiprocessors that have a block; 1 if the number of blocks is unknown."""
        count = self.hardware.multiprocessors
        return min(1.0, self.blocks / count) if self.blocks and count else 1.0

    @cached_property
    def time(self) -> TakenTime | None:
        """The time to compare with: preferably by Proton, with the cache state of the counters."""
        if self.is_modelled or self.timings is None:
            return None
        timing = preferred_timing(self.timings, self.counters)
        return _taken(timing) if timing else None

    @property
    def time_ns(self) -> float | None:
        return self.time.median_ns if self.time else None

    def metric(self, name: str) -> float | None:
        """Return a metric by the profiler's name; None if it is missing or out of range."""
        return amount(self.counters.metrics.get(name)) if self.counters and not self.counters.reason else None

    def busy(self, name: str) -> float | None:
        """Return a metric in percent as a share of 1."""
        value = self.counters.metrics.get(name) if self.counters and not self.counters.reason else None
        return None if value is None else share(value / 100)

    @cached_property
    def clock_mhz(self) -> float | None:
        """The clock that the multiprocessors had while the counters were read."""
        hertz = self.metric("sm__cycles_elapsed.avg.per_second")
        cycles, time = self.metric("sm__cycles_elapsed.max"), self.metric("gpu__time_duration.sum")
        if hertz is None and cycles and time:
            hertz = cycles / time * 1e9
        return hertz / 1e6 if hertz and 1e7 <= hertz <= 1e11 else None

    @cached_property
    def occupancy(self) -> Occupancy | None:
        found = self.resources
        if found is None or found.registers is None or found.shared_bytes is None or not found.threads:
            return None
        if not all(
            0 <= each <= _MOST_RESOURCE for each in (found.threads, found.registers, found.shared_bytes)
        ):
            return None
        return occupancy(self.target.name, found.threads, found.registers, found.shared_bytes)

    @cached_property
    def blocks(self) -> int:
        """The number of blocks of the launch; 0 if unknown."""
        if self.launch is None or not all(0 < each < 2**32 for each in self.launch.grid):
            return 0
        count = math.prod(self.launch.grid[:3]) * max(self.blocks_per_program, 1)
        return count if count <= _MOST_BLOCKS else 0

    @cached_property
    def waves(self) -> Waves | None:
        if self.occupancy is None:
            return None
        return waves(self.blocks, self.occupancy.blocks_per_multiprocessor, self.hardware.multiprocessors)

    @cached_property
    def stall_shares(self) -> dict[str, float]:
        """The share of all samples by stall reason, with the names of the profiler."""
        taken: dict[str, float] = {}
        total = 0.0
        if self.heat and not self.heat.reason:
            taken.update(self.heat.stalls)
            total = self.heat.samples  # the profiler leaves out some reasons
        if not taken and self.counters:
            taken = {name: count for name, each in self.counters.stalls.items() if (count := amount(each))}
        total = max(total, math.fsum(taken.values()))
        shares: dict[str, float] = {}
        for name, count in taken.items():
            known = stall_name(name)
            shares[known] = shares.get(known, 0.0) + count / total
        return shares


_STALL_NAMES = {
    "long_sb": "long_scoreboard",
    "short_sb": "short_scoreboard",
    "math": "math_pipe_throttle",
    "mio": "mio_throttle",
    "lg": "lg_throttle",
    "tex": "tex_throttle",
    "imc": "imc_miss",
    "no_inst": "no_instruction",
    "no_instructions": "no_instruction",
    "dispatch": "dispatch_stall",
    "sleep": "sleeping",
    "gmma": "warpgroup_arrive",
}


def stall_name(name: str) -> str:
    """Return the canonical name of a stall reason: profilers abbreviate some."""
    plain = name.lower().removeprefix("stalled_").removeprefix("stall_").replace(" ", "_")
    return _STALL_NAMES.get(plain, plain)


def preferred_timing(timings: Timings, counters: Counters | None) -> Timing | None:
    """Return the timing to compare with: preferably by Proton, with the cache state of the counters."""
    wanted = counters.cache if counters and not counters.reason else "cold"
    usable = [each for each in timings.timings if time_ns(each.median_ns)]
    return min(usable, key=lambda each: (each.method != "proton", each.cache != wanted), default=None)


def _taken(timing: Timing) -> TakenTime:
    low, high = time_ns(timing.low_ns), time_ns(timing.high_ns)
    return TakenTime(
        timing.median_ns,
        timing.median_ns if low is None else low,
        timing.median_ns if high is None else high,
        timing.method,
        timing.cache,
    )
