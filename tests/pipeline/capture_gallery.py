"""Compile every gallery kernel for every target in one process; write what each compile has told.

    python capture_gallery.py FOLDER

One pickle for each kernel and target, `<kernel>@<target>.pickle`: the events, without the long texts in the
LLVM dialect, and what the compiler has printed of its allocation of shared memory. It runs in a process of
its own because a process can hold only one Triton.
"""

import contextlib
import dataclasses
import io
import pickle
import sys
from pathlib import Path

from explorer.examples import load_examples
from explorer.model import Pass, Request
from explorer.pipeline import passes
from explorer.pipeline.job import perform
from explorer.pipeline.targets import TARGETS


def main() -> None:
    folder = Path(sys.argv[1])
    dumps = []
    read_allocations = passes.read_allocations

    def keep_dump(dump, *rest):
        dumps.append(dump)
        return read_allocations(dump, *rest)

    passes.read_allocations = keep_dump
    for example in load_examples():
        for target in TARGETS:
            events = []
            dumps.clear()

            def emit(event, events=events):
                if isinstance(event, Pass) and event.text and "llvm.func" in event.text:
                    event = dataclasses.replace(event, text=None)
                events.append(event)

            with contextlib.redirect_stdout(io.StringIO()):
                perform(Request(example.source, target.name, ""), emit)
            (folder / f"{example.name}@{target.name}.pickle").write_bytes(pickle.dumps((events, dumps)))


if __name__ == "__main__":
    main()
