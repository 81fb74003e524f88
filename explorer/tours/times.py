"""The times of launches of the tours on a GPU.

In: the files in the folder `measured`, one for each tour, which `tools/record-tours` writes. Out: the time
and the work of a launch, found by the tour's description of the launch, and the machine that it was measured
on.
"""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec


class Machine(msgspec.Struct, frozen=True):
    """The machine that launches were measured on, and the date. Clocks are clocks of the GPU at work.

    `peaks` are rates of its datasheet, by the names of the roofline's ceilings: bytes or operations a second.
    """

    gpu: str
    driver: str
    triton: str
    torch: str
    date: str
    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    peaks: dict[str, float]


class MeasuredRun(msgspec.Struct, frozen=True):
    """The time of a launch: the median, and the 20 % and 80 % quantiles. The L2 cache is cold.

    `bytes` is the size of its tensors, each read or written once. `operations` counts the operations of its
    main kind. None: the program does not determine them. The hashes identify the source and the binary that
    ran.
    """

    time_ns: float
    low_ns: float
    high_ns: float
    bytes: float | None
    operations: float | None
    source_sha256: str
    binary_sha256: str

    def rate(self, peak: str) -> float | None:
        """Return bytes or operations a second, in the unit of the ceiling `peak`."""
        work = self.bytes if peak == "dram" else self.operations
        return None if work is None else work / self.time_ns * 1e9


class MeasuredTour(msgspec.Struct, frozen=True):
    """The launches of a tour that were measured, by `address`."""

    machine: Machine
    runs: dict[str, MeasuredRun]


def read_measured(tour: str) -> MeasuredTour | None:
    """Read the measurements of a tour; return None if there are none."""
    file = files(__package__) / "measured" / f"{tour}.json"
    return msgspec.json.decode(file.read_bytes(), type=MeasuredTour) if file.is_file() else None


def address(launch: Any, sizes: dict[str, int]) -> str:
    """Return the name under which a launch at these sizes is recorded."""
    return sha256(msgspec.json.encode([launch, sizes], order="sorted")).hexdigest()[:16]
