"""Compile gallery kernels for every target in one process; write what each compile has told.

    python capture_gallery.py FOLDER KERNEL …

One pickle for each kernel and target, `<kernel>@<target>.pickle`: the events, without the long texts in the
LLVM dialect, what the compiler has printed of its allocation of shared memory, and the live registers of the
machine code (or why they are not told). It runs in a process of
its own because a process can hold only one Triton.
"""

import contextlib
import dataclasses
import io
import pickle
import sys
from pathlib import Path

from explorer.examples import find_example
from explorer.model import Pass, Request
from explorer.pipeline import passes
from explorer.pipeline.job import perform
from explorer.pipeline.questions.registers import live_registers
from explorer.pipeline.targets import TARGETS

#: Each disassembly takes half a second: of other targets a few kernels will do.
_DISASSEMBLED = {
    "cuda:90": None,
    "cuda:80": ("softmax", "matmul"),
    "cuda:100": ("matmul", "matmul_persistent"),
}


def live(example, target, events):
    """The live registers of the binary, the words of the refusal, or None where nobody is asked."""
    wanted = _DISASSEMBLED.get(target.name, ())
    if wanted is not None and example.name not in wanted:
        return None
    binary = next(event for event in events if event.kind == "binary")
    told = live_registers(Request(binary.data, target.name, ""), target)
    return told.reason or told


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    dumps = []
    read_allocations = passes.read_allocations

    def keep_dump(dump, *rest):
        dumps.append(dump)
        return read_allocations(dump, *rest)

    passes.read_allocations = keep_dump
    for example in map(find_example, names):
        for target in TARGETS:
            events = []
            dumps.clear()

            def emit(event, events=events):
                if isinstance(event, Pass) and event.text and "llvm.func" in event.text:
                    event = dataclasses.replace(event, text=None)
                events.append(event)

            with contextlib.redirect_stdout(io.StringIO()):
                perform(Request(example.source, target.name, ""), emit)
            (folder / f"{example.name}@{target.name}.pickle").write_bytes(
                pickle.dumps((events, dumps, live(example, target, events)))
            )


if __name__ == "__main__":
    main()
