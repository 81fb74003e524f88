"""The gallery, compiled for every target by each supported Triton, once for all tests."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from explorer.examples import EXAMPLES
from explorer.sandbox.versions import installed_versions


@dataclass(frozen=True)
class Captured:
    """What one compile has told, the dump of its allocation of shared memory, and its live registers."""

    events: list
    dumps: list
    live: object

    def of(self, kind):
        return [event for event in self.events if event.kind == kind]

    @property
    def stages(self):
        return {stage.name: stage for stage in self.of("stage")}


@pytest.fixture(scope="session", params=["3.9.0", "3.6.0"])
def gallery(request, tmp_path_factory):
    """A function from kernel and target to what the compile has told."""
    folder = tmp_path_factory.mktemp("gallery")
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    folder_of_triton = installed_versions()[request.param]
    paths = [str(path) for path in (folder_of_triton, Path(__file__).parents[2]) if path is not None]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    script = Path(__file__).with_name("capture_gallery.py")
    processes = max(1, len(os.sched_getaffinity(0)) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))

    def capture(names):
        return subprocess.run(
            [sys.executable, str(script), str(folder), *names],
            env=environment,
            capture_output=True,
            text=True,
        )

    with ThreadPoolExecutor(processes) as pool:
        for done in pool.map(capture, [EXAMPLES[first::processes] for first in range(processes)]):
            assert done.returncode == 0, done.stderr[-4000:]

    def captured(example, target):
        return Captured(*pickle.loads((folder / f"{example}@{target}.pickle").read_bytes()))

    captured.folder, captured.environment = folder, environment
    return captured
