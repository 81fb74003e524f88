"""Compile every gallery kernel for every target in one process; write what each compile has told.

    python capture_gallery.py FOLDER

One pickle for each kernel and target, `<kernel>@<target>.pickle`: the events, without the long texts of the
passes that make LLVM IR. It runs in a process of its own because a process can hold only one Triton.
"""

import contextlib
import dataclasses
import io
import pickle
import sys
from pathlib import Path

from explorer.examples import load_examples
from explorer.model import Pass, Request
from explorer.pipeline.job import perform
from explorer.pipeline.targets import TARGETS


def main() -> None:
    folder = Path(sys.argv[1])
    for example in load_examples():
        for target in TARGETS:
            events = []

            def emit(event, events=events):
                if isinstance(event, Pass) and event.stage == "llir":
                    event = dataclasses.replace(event, text=None)
                events.append(event)

            with contextlib.redirect_stdout(io.StringIO()):
                perform(Request(example.source, target.name, ""), emit)
            (folder / f"{example.name}@{target.name}.pickle").write_bytes(pickle.dumps(events))


if __name__ == "__main__":
    main()
