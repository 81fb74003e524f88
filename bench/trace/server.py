"""A server whose functions report their times, and whose jails are traced.

    python -m bench.trace.server FILE OPTIONS OF SERVE…

Each span is a line of JSON in FILE.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.trace.spans import wrap
from explorer import services
from explorer.cli.main import main
from explorer.sandbox import SandboxSettings
from explorer.sandboxes import compilation_sandbox
from explorer.settings import Settings

_SERVER = [
    "explorer.server.application:_Answer",
    "explorer.views.requests:read_compilation",
    "explorer.jobs.local:LocalQueue.submit",
    "explorer.jobs.local:LocalQueue._perform",
    "explorer.jobs.local:LocalQueue._store_result",
    "explorer.store.sql:Store.known",
    "explorer.store.sql:Store.admit",
    "explorer.store.sql:Store.submit",
    "explorer.store.sql:Store.find",
    "explorer.store.sql:Store.finish",
    "explorer.store.files:FileBlobStore.write",
    "explorer.store.batches:BlobBatch.commit",
    "explorer.store.entry_writer:EntryWriter.write",
    "explorer.sandbox.slot:Slot.run",
    "explorer.sandbox.slot:Slot.next",
    "explorer.sandbox.slot:Slot._kill_job",
    "explorer.sandbox.protocol:EventStream.feed",
    "explorer.views.events:EventStream.read",
    "explorer.views.events:event_stream",
]


def trace(file: Path) -> None:
    """Wrap the functions of the server, and let its sandbox execute the traced entry point."""
    output = file.open("a", buffering=1)

    def report(span: dict[str, Any]) -> None:
        output.write(json.dumps({**span, "process": "server"}) + "\n")

    wrap(_SERVER, report)

    def traced(settings: Settings) -> SandboxSettings:
        folder = Path(__file__).parents[2]
        return replace(compilation_sandbox(settings), entry_point="bench.trace.job", python_path=(folder,))

    services.compilation_sandbox = traced  # type: ignore[attr-defined]  # where it is used


if __name__ == "__main__":
    trace(Path(sys.argv.pop(1)))
    sys.exit(main())
