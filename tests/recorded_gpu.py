"""The command line on a machine whose GPU is a recording: each run on it has the measurements of `recorded`.

python -m recorded_gpu COMMAND…
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator

from recorded import documents

import explorer.sandbox.nvidia
import explorer.services
from explorer.cli.main import main
from explorer.jobs.gpu import GpuRunner
from explorer.model import Done, Event, Measurement, Progress, Request, to_plain
from explorer.sandbox import Sandbox
from explorer.sandbox.nvidia import Gpu
from explorer.sandboxes import single_job_sandbox
from explorer.settings import Settings

GPU = Gpu("GPU-0", "NVIDIA A100", "8.0", "580.00", 0)
TARGET = "cuda:80"


class RecordedGpu(GpuRunner):
    """Plays the measurements back, without a sandbox."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(GPU, Sandbox(single_job_sandbox(settings)))

    def warm_up(self) -> None:
        """Nothing is started."""

    def run(self, request: Request, cancelled: threading.Event) -> Iterator[Event]:
        """Yield the events of the recorded run. It shows that the slot works, as any other."""
        return self.activity.watch(request, self._events())

    def _events(self) -> Iterator[Event]:
        yield Progress(1, 2, "playing the recording")
        for name, document in documents().items():  # type: ignore[no-untyped-call]
            yield Measurement(name, json.dumps(to_plain(document)))
        yield Done("complete", 1.0)

    def settle(self, closed: threading.Event) -> None:
        """Nothing is left on the GPU."""


if __name__ == "__main__":
    vars(explorer.sandbox.nvidia)["find_gpus"] = lambda: (GPU,)
    vars(explorer.services)["gpu_runners"] = lambda settings: [RecordedGpu(settings)]
    sys.exit(main())
