"""What a measure is given: the launch to measure, and how to tell what it has found out."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from explorer.measurements import MEASUREMENTS, LaunchFacts, MeasurementDocument, ProfileFile, ProfileFiles
from explorer.model import Config, Event, Measurement, Progress, Request, Run, to_plain

Emit = Callable[[Event], None]
MOST_FILE_BYTES = 8 * 2**20
_NAMES = {document: name for name, document in MEASUREMENTS.items()}


class Launch(Protocol):
    """One launch of a kernel, taken from a script or made from inputs, ready to be made again and again.

    `tensors` are its tensor arguments by name, `namespace` the global names of the user's script. `configs`
    are the kernel's autotune configurations. `compiled` is what the compiler has made for the last launch
    (Triton's `CompiledKernel`; None before it). `reference` computes the same by the reference, as its author
    wrote it; None: there is no reference.
    """

    facts: LaunchFacts
    tensors: dict[str, Any]
    namespace: dict[str, Any]
    configs: tuple[Config, ...]
    compiled: Any
    reference: Callable[[], object] | None

    def run(self, config: int | None = None) -> None:
        """Launch once, asynchronously, on whatever the tensors hold now.

        `config` is the autotune configuration to take in place of the launch's own.
        """
        ...

    def run_anew(self) -> None:
        """Launch once what the compiler makes of the kernel now: it is told to add something to it."""
        ...

    def restore(self) -> None:
        """Give all tensors the values back that they had before the first launch."""
        ...


@dataclass
class Bench:
    """One run at work.

    `at_sizes` makes the same launch for other sizes of the run's inputs; None: its inputs are a script's.
    `profile` is what a profiler outside has found out, `sampled` what waits at which instruction, so that
    one profile serves several measures.
    """

    request: Request
    run: Run
    launch: Launch
    emit: Emit
    step: int = 0
    steps: int = 0
    at_sizes: Callable[[dict[str, int]], Launch] | None = None
    profile: object = None
    sampled: dict[int, dict[str, int]] | None = None
    files: list[ProfileFile] = field(default_factory=list)

    def tell(self, document: MeasurementDocument) -> None:
        """Send a measurement across the wall."""
        self.emit(Measurement(_NAMES[type(document)], json.dumps(to_plain(document), allow_nan=False)))

    def keep(self, name: str, media_type: str, data: bytes) -> None:
        """Keep a profiler's file for the user to take home, if it is not too large."""
        if len(data) <= MOST_FILE_BYTES:
            self.files.append(ProfileFile(name, media_type, base64.b64encode(data).decode()))

    def tell_files(self) -> None:
        """Send all files, once nothing more is measured."""
        if self.files:
            self.tell(ProfileFiles(tuple(self.files)))

    def progress(self, text: str, done: float = 0.0) -> None:
        """Say what is being done: `done` is how much of this measure's step, 0 to 1."""
        thousandths = round(1000 * (self.step + min(max(done, 0.0), 1.0)))
        self.emit(Progress(min(thousandths, 1000 * self.steps), 1000 * self.steps, text))
