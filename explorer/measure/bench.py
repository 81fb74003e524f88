"""What a measure is given: the launch to measure, and how to tell what it has found out."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from explorer.measurements import MEASUREMENTS, LaunchFacts, MeasurementDocument
from explorer.model import Event, Measurement, Progress, Request, Run, to_plain

Emit = Callable[[Event], None]
_NAMES = {document: name for name, document in MEASUREMENTS.items()}


class Launch(Protocol):
    """One launch of a kernel, taken from a script or made from inputs, ready to be made again and again.

    `tensors` are its tensor arguments by name, `namespace` the global names of the user's script.
    """

    facts: LaunchFacts
    tensors: dict[str, Any]
    namespace: dict[str, Any]

    def run(self) -> None:
        """Launch once, asynchronously, on whatever the tensors hold now."""
        ...

    def restore(self) -> None:
        """Give all tensors the values back that they had before the first launch."""
        ...


@dataclass
class Bench:
    """One run at work."""

    request: Request
    run: Run
    launch: Launch
    emit: Emit
    step: int = 0
    steps: int = 0

    def tell(self, document: MeasurementDocument) -> None:
        """Send a measurement across the wall."""
        self.emit(Measurement(_NAMES[type(document)], json.dumps(to_plain(document), allow_nan=False)))

    def progress(self, text: str, done: float = 0.0) -> None:
        """Say what is being done: `done` is how much of this measure's step, 0 to 1."""
        thousandths = round(1000 * (self.step + min(max(done, 0.0), 1.0)))
        self.emit(Progress(min(thousandths, 1000 * self.steps), 1000 * self.steps, text))
