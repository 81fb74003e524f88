"""A run as files: `run.json`, one file for each measurement, tables, and the profilers' own files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from explorer.runs.documents import run_document
from explorer.runs.files import autotuning_table, profile_file, profile_files, sweep_table
from explorer.store import Record

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class RunFileLinks:
    """The names of the files of a run in its folder."""

    def run(self, run_id: str) -> str:  # noqa: ARG002  a folder has one run
        """Return the file of the run."""
        return "run.json"

    def measurement(self, run_id: str, name: str) -> str:  # noqa: ARG002  a folder has one run
        """Return the file of a measurement."""
        return f"measurements/{name}.json"


def run_files(record: Record, compilation: Record | None) -> Iterator[tuple[str, bytes]]:
    """Yield all files with their names."""
    links, measured = RunFileLinks(), record.result.measurements
    document = msgspec.json.encode(run_document(record, links, compilation))
    yield links.run(record.id), msgspec.json.format(document, indent=2) + b"\n"
    for name in measured:
        yield links.measurement(record.id, name), record.measurement(name)
    if "sweep" in measured:
        yield "sweep.csv", sweep_table(record).encode()
    if "autotuning" in measured:
        yield "autotuning.csv", autotuning_table(record).encode()
    for file in profile_files(record):
        if _FILE_NAME.fullmatch(file.name):  # user code has chosen the name
            yield f"files/{file.name}", profile_file(record, file.name)


def write_run(record: Record, compilation: Record | None, folder: Path) -> None:
    """Write all files to a folder, which is created if it is missing."""
    for name, data in run_files(record, compilation):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
