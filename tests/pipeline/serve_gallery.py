"""Compile gallery kernels on request; write the events of each compilation.

    python serve_gallery.py FOLDER

Each line of the standard input names an example and a target, and perhaps a stage whose text is edited
without a change, or with the word "source" is the source. The reply is one line, the name of a new file in
FOLDER: `<example>@<target>.pickle`, or `<example>@<target>=<stage>.pickle`, with "source" at the end of the
stem. It holds the events, without the long texts in the LLVM dialect, the
compiler's dumps of its shared memory allocation, and the live registers of the machine code (or the reason
why there are none). The script is a separate process because a process can hold only one Triton.
"""

import dataclasses
import os
import pickle
import sys
from pathlib import Path
from unittest import mock

from explorer.examples import find_example
from explorer.model import Edits, Event, Pass, Request
from explorer.model.hardware import find_target
from explorer.pipeline import passes
from explorer.pipeline.allocation import read_allocations
from explorer.pipeline.compiler_queries.registers import live_registers
from explorer.pipeline.job import perform
from explorer.sandbox import linux

#: Each disassembly takes half a second: of other targets a few kernels will do.
_DISASSEMBLED = {
    "cuda:90": None,
    "cuda:80": ("softmax", "matmul"),
    "cuda:100": ("matmul", "matmul_persistent"),
}


def live(example, target, events):
    """Return the live registers of the binary, the error message, or None if the target has no such query."""
    wanted = _DISASSEMBLED.get(target.name, ())
    if wanted is not None and example.name not in wanted:
        return None
    binary = next(event for event in events if event.kind == "binary")
    told = live_registers(Request(binary.data, target.name, ""), target)
    return told.reason or told


def main() -> None:
    folder = Path(sys.argv[1])
    assert linux.fix_addresses()  # As in the sandbox.
    # Output of the compiler and of the examples must not mix with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    dumps: list[str] = []

    def keep_dump(dump, *rest):
        dumps.append(dump)
        return read_allocations(dump, *rest)

    with mock.patch.object(passes, "read_allocations", keep_dump):
        serve(folder, replies, dumps)


def serve(folder, replies, dumps):
    for line in sys.stdin:
        name, architecture, *stage = line.split()
        example, target = find_example(name), find_target(architecture)
        events: list[Event] = []
        dumps.clear()

        def emit(event, events=events):
            if isinstance(event, Pass) and event.text and "llvm.func" in event.text:
                event = dataclasses.replace(event, text=None)
            events.append(event)

        path = folder / f"{example.name}@{target.name}.pickle"
        wanted = Request(example.source, target.name, "")
        if stage:
            unedited = {
                event.name if event.kind == "stage" else event.kind: event
                for event in pickle.loads(path.read_bytes())[0]
            }
            own = unedited[stage[0]]
            if stage[1:]:
                options = {
                    name: unedited["specialized"].options[name] for name in ("num_warps", "num_stages")
                }
                wanted = dataclasses.replace(wanted, source=own.raw, options=options)
            else:
                wanted = dataclasses.replace(wanted, edits=Edits(own.name, own.text))
            path = folder / f"{example.name}@{target.name}={''.join(stage)}.pickle"
        perform(wanted, emit)
        found = (events, [], None) if stage else (events, dumps, live(example, target, events))
        # Whole or absent: the file may be used by later runs of the tests.
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(pickle.dumps(found))
        unfinished.rename(path)
        print(path.name, file=replies, flush=True)


if __name__ == "__main__":
    main()
