"""The type of an entry of the registry of measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model.basics import DeviceKind

#: The order in which measures run. "plain": the launch as it is. "repeated": many other launches, which
#: change the clocks. "profiled": with a profiler attached, which slows down later launches. "host": without
#: the kernel.
Phase = Literal["plain", "repeated", "profiled", "host"]
PHASES: tuple[Phase, ...] = ("plain", "repeated", "profiled", "host")


class MeasurementDocument:
    """The base class of the documents of measurements. They are frozen dataclasses."""


@dataclass(frozen=True, slots=True)
class MeasurementKind:
    """One measurement: the document that a run yields, and the measure that yields it.

    `name` is the name of the document, in addresses and on the wire, and `document` its type. `measure` is
    the measure that a run requests for the document; "": every run has it. `devices` are the devices that
    support the measure. `description` is one sentence for the page and for `--help`. `most_characters` bounds
    the document as
    JSON: lists of runs hold several short documents at a time.
    """

    name: str
    document: type[MeasurementDocument]
    measure: str = ""
    description: str = ""
    devices: tuple[DeviceKind, ...] = ("gpu",)
    phase: Phase = "plain"
    most_characters: int = 1_000_000
