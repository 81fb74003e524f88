"""Stored results that contain forged data, as hostile user code could produce it."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable
from typing import cast

from explorer.model import Event, Stage
from explorer.store import Entry, Record, Store
from explorer.store.entry_writer import EntryWriter

#: Single values only: its TTGIR has no tensor, so nothing has a layout.
SCALAR = """\
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(out, n):
    i = tl.program_id(0)
    if i < n:
        tl.store(out + i, i * 2)


kernel[(1,)](torch.empty(64, dtype=torch.int32, device="cuda"), 64)
"""
#: Its buffer has a layout that the compiler reads and cannot name.
ROTATING = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], \
order = [1, 0]}>
#shared = #ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 16, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", \
"ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %zeros = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #blocked>
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>
    tt.return
  }
}
"""

#: Takes an entry of a sound result; returns its replacement: an entry, an event, or None to store nothing.
Alter = Callable[[Entry], Entry | Event | None]


def store_altered(store: Store, record: Record, alter: Alter) -> Record:
    """Alter a finished result and store it as the result of a source that differs by a comment."""
    comment = f"\n# altered: {uuid.uuid4()}\n"
    request = dataclasses.replace(record.request, source=record.request.source + comment)
    batch = store.batch()
    writer = EntryWriter(batch)
    altered = [
        writer.write(cast(Event, each)) for entry in record.entries if (each := alter(entry)) is not None
    ]
    new = store.submit(request)
    store.finish(new.id, altered, batch)
    return store.find(new.id)


def with_stage_text(record: Record, stage: str, text: str) -> Alter:
    """Replace the text of a stage, without locations."""
    entry = record.stage(stage)

    def alter(each: Entry) -> Entry | Event:
        return Stage(stage, entry.title, entry.language, 1.0, text) if each is entry else each

    return alter


def long_module(operations: int) -> str:
    """Return a module with chains of a hundred operations, each of which uses the result of the one before.

    A chain of 5,000 may exceed the stack of a browser's worker when the graph is laid out.
    """
    lines = (
        f"    %v{i} = arith.addi %v{before}, %v{before} : i32"
        for i in range(1, operations)
        for before in [i - 1 if i % 100 else 0]
    )
    first = "    %v0 = arith.constant 1 : i32"
    body = "\n".join([first, *lines])
    return f"module {{\n  tt.func public @long() {{\n{body}\n    tt.return\n  }}\n}}\n"
