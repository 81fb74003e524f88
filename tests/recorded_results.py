"""Results that tests open instead of compiling: of the gallery, the tours and `sources.py`.

`python tests/recorded_results.py` compiles them into a data folder that is kept (`kept.py`). Servers and
applications of the tests start with a copy of it. A test that is about compiling uses a source of its own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from gallery_cases import REPRESENTATIVES
from kept import kept_folder
from sources import SCALE, TORCH_PROGRAM
from tritons import TRITONS

from explorer import create_app
from explorer.examples import load_examples
from explorer.model import Request
from explorer.services import services_of
from explorer.settings import Settings
from explorer.tours import load_tours
from explorer.views.tours import request_of

_IS_COMPLETE = "complete"
_PROCESSES = 2
#: What the requests are made from, and what stores their results.
_SOURCES = (
    "explorer/tours",
    "explorer/store",
    "explorer/sandbox",
    "tests/sources.py",
    "tests/recorded_results.py",
)


def requests() -> Iterator[Request]:
    """Yield the requests of the recorded results, some of them more than once."""
    for triton in TRITONS:
        yield Request(SCALE, "cuda:90", triton)
        yield Request(TORCH_PROGRAM, "cuda:90", triton)
        for example in load_examples():
            # A first visit shows the version of the recorded profiles, which need not be the newest.
            for target in REPRESENTATIVES if triton == TRITONS[0] else ("cuda:90",):
                yield Request(example.source, target, triton)
        for tour in load_tours():
            yield from (request_of(step.launch, triton) for step in tour.steps)


def copy_recorded_results(folder: Path) -> None:
    """Fill a data folder with the recorded results, if they have been made."""
    recorded = kept_folder("results", *_SOURCES)
    if (recorded / _IS_COMPLETE).exists():
        shutil.copytree(recorded / "data", folder, dirs_exist_ok=True)


def main() -> None:
    """Compile all requests, unless that is done."""
    recorded = kept_folder("results", *_SOURCES)
    if (recorded / _IS_COMPLETE).exists():
        return
    app = create_app(Settings(data_dir=recorded / "data", slots=_PROCESSES))
    with closing(services_of(app)) as services, ThreadPoolExecutor(_PROCESSES) as threads:
        records = list(threads.map(services.queue.complete, requests()))
    print(f"{len(records)} results are recorded for the tests.")
    (recorded / _IS_COMPLETE).touch()


if __name__ == "__main__":
    main()
