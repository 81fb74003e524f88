"""Load every script of `scripts/` for every target, as the Triton on the path sees it. Writes a pickle.

Each script runs in a separate child, as in the service.
"""

import os
import pickle
import sys
from pathlib import Path

from explorer.model import Request
from explorer.model.hardware import find_target
from explorer.pipeline.job import warm_up
from explorer.pipeline.module import load
from explorer.pipeline.specialize import resolve

TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")


def load_one(path, name):
    source = path.read_text()
    target = find_target(name)
    found = load(source, target)
    specialized = [
        resolve(found, Request(source, name, "", launch=launch.info.index), target).described
        for launch in found.launches
    ]
    return {
        "kernels": [kernel.info for kernel in found.kernels],
        "launches": [launch.info for launch in found.launches],
        "specialized": specialized,
        "diagnostics": found.diagnostics,
        "output": found.output,
    }


def in_child(function, *arguments):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "wb") as stream:
            pickle.dump(function(*arguments), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    os.waitpid(child, 0)
    return pickle.loads(data)


def main(output):
    warm_up()
    scripts = sorted(Path(__file__).with_name("scripts").glob("*.py"))
    loaded = {(path.stem, name): in_child(load_one, path, name) for path in scripts for name in TARGETS}
    Path(output).write_bytes(pickle.dumps(loaded))


if __name__ == "__main__":
    main(sys.argv[1])
