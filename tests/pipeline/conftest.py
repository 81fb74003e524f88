"""The gallery, compiled by each supported Triton version when a test first needs it, and then kept."""

import functools
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kept import kept_folder
from tritons import TRITONS

from explorer.sandbox.versions import installed_versions


@dataclass(frozen=True)
class Captured:
    """The events of one compilation, its shared memory allocation, and its live registers."""

    events: list[Any]
    dumps: list[str]
    live: object

    def of(self, kind):
        return [event for event in self.events if event.kind == kind]

    @property
    def stages(self):
        return {stage.name: stage for stage in self.of("stage")}


class Gallery:
    """The examples as one Triton version compiles them, in a separate process."""

    def __init__(self, triton, folder):
        self.triton = triton
        self.folder = folder
        paths = [str(path) for path in (installed_versions()[triton], Path(__file__).parents[2]) if path]
        self.environment = {
            **os.environ,
            "TRITON_CACHE_DIR": str(folder / "cache"),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join(paths),
        }
        self._log = folder / "log"

    def __call__(self, example, target, stage="", as_source=""):
        """Return the compilation of an example for a target. The first call compiles it.

        With a stage, the later stages are compiled from the stage's own text: as an edit, or if `as_source`
        is "source" as the source.
        """
        path = self.folder / f"{example}@{target}{stage and f'={stage}'}{as_source}.pickle"
        if not path.exists():
            self._compiler.stdin.write(f"{example} {target} {stage} {as_source}\n")
            self._compiler.stdin.flush()
            assert self._compiler.stdout.readline() == f"{path.name}\n", self._log.read_text()[-4000:]
        return Captured(*pickle.loads(path.read_bytes()))

    @functools.cached_property
    def _compiler(self):
        with self._log.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("serve_gallery.py")), str(self.folder)],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def close(self):
        if "_compiler" in self.__dict__:
            self._compiler.stdin.close()
            self._compiler.stdout.close()
            self._compiler.wait()


@pytest.fixture(scope="module")
def private_cache(tmp_path_factory):
    """The cache of the compiler is a new folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
        yield


@pytest.fixture(scope="session", params=TRITONS)
def gallery(request):
    """Return a function from example and target to its `Captured` compilation."""
    gallery = Gallery(
        request.param, kept_folder(f"gallery-{request.param}", "tests/pipeline/serve_gallery.py")
    )
    yield gallery
    gallery.close()
