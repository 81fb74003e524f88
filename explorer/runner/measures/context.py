"""The context of a measure: the launch to measure, and how to emit measurements and progress."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from explorer.model import Config, Measurement, Progress, Request, Run, to_plain
from explorer.model.measurements import (
    MEASUREMENTS,
    LaunchFacts,
    MeasurementDocument,
    ProfileFile,
    ProfileFiles,
)
from explorer.pipeline.error_events import Emit

MOST_FILE_BYTES = 8 * 2**20
_NAMES = {kind.document: name for name, kind in MEASUREMENTS.items()}


class Launch(Protocol):
    """One launch of a kernel, captured from a script or made from inputs, that can be repeated.

    `tensors` are its tensor arguments by name, `namespace` the global names of the user's script. `configs`
    are the kernel's autotune configurations. `compiled` is Triton's `CompiledKernel` of the last launch; None
    before it. `reference` computes the expected results in the types of the kernel's arguments; None: no
    reference.
    """

    facts: LaunchFacts
    tensors: dict[str, Any]
    namespace: dict[str, Any]
    configs: tuple[Config, ...]
    compiled: Any
    reference: Callable[[], object] | None

    def run(self, config: int | None = None) -> None:
        """Launch once, asynchronously, on the current values of the tensors.

        `config` is an autotune configuration to use in place of the launch's own.
        """

    def recompile_and_run(self) -> None:
        """Compile the kernel again and launch it once: the compiler was told to add instrumentation."""

    def restore(self) -> None:
        """Restore the values that all tensors had before the first launch."""


@dataclass
class MeasureContext:
    """The context of one run.

    `at_sizes` makes the same launch for other sizes of the run's inputs; None: the inputs are a script's.
    `profile` is the result of an external profiler, `sampled` the stall samples of each instruction: several
    measures share them.
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

    def emit_measurement(self, document: MeasurementDocument) -> None:
        self.emit(Measurement(_NAMES[type(document)], json.dumps(to_plain(document), allow_nan=False)))

    def keep_file(self, name: str, media_type: str, data: bytes) -> None:
        """Keep a profiler's file for the user to download, unless it is too large."""
        if len(data) <= MOST_FILE_BYTES:
            self.files.append(ProfileFile(name, media_type, base64.b64encode(data).decode()))

    def emit_files(self) -> None:
        if self.files:
            self.emit_measurement(ProfileFiles(tuple(self.files)))

    def report_progress(self, text: str, done: float = 0.0) -> None:
        """Report the current activity. `done` is the share of this measure's step, 0 to 1."""
        thousandths = round(1000 * (self.step + min(max(done, 0.0), 1.0)))
        self.emit(Progress(min(thousandths, 1000 * self.steps), 1000 * self.steps, text))
