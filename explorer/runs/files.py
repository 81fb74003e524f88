"""Measurements of a run as files: tables for a spreadsheet, and the profilers' own files."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, repeat, zip_longest

import msgspec

from explorer.errors import NotAnswerable, NotFound
from explorer.model.measurements import Autotuning, ProfileFile, ProfileFiles, Sweep
from explorer.store import Record

#: A cell that starts with one of these is a formula in spreadsheets, also in full width.
_COMPUTED = tuple("=+-@＝＋－＠")


class FileRow(msgspec.Struct, frozen=True):
    """A file of a profiler, without its data."""

    name: str
    media_type: str
    bytes: int


class FilesDocument(msgspec.Struct, frozen=True):
    """The files of profilers of a run."""

    files: list[FileRow]


def files_document(record: Record) -> FilesDocument:
    """Return the list of files, whose data may be long."""
    rows = [
        FileRow(file.name, file.media_type, len(file.data) * 3 // 4 - file.data[-2:].count("="))
        for file in profile_files(record)
    ]
    return FilesDocument(rows)


def sweep_table(record: Record) -> str:
    """Return the sweep of a run as a table: a column for each size, and three for each line.

    Raises:
        NotFound: the run has no sweep.
    """
    sweep = msgspec.json.decode(record.measurement("sweep"), type=Sweep)
    head = list(sweep.size_names)
    for line in sweep.lines:
        head += [f"{line} ({sweep.unit})", f"{line} low", f"{line} high"]
    rows = []
    for point in sweep.points:
        row: list[object] = [_whole(point.sizes.get(name)) for name in sweep.size_names]
        # User code may have forged it: a point may have more or fewer values than there are lines.
        values = zip_longest(point.values, point.low, point.high)
        for value in islice(chain(values, repeat((None, None, None))), len(sweep.lines)):
            row += value
        rows.append(row)
    return _table(head, rows)


def autotuning_table(record: Record) -> str:
    """Return the autotune configurations of a run with their times, as a table.

    Raises:
        NotFound: the run has none.
    """
    tuning = msgspec.json.decode(record.measurement("autotuning"), type=Autotuning)
    arguments = _names(config.arguments for config in tuning.configs)
    options = _names(config.options for config in tuning.configs)
    head = ["config", *arguments, *options, "median ns", "low ns", "high ns", "problem"]
    rows = [
        [
            config.config,
            *(config.arguments.get(name) for name in arguments),
            *(config.options.get(name) for name in options),
            config.median_ns,
            config.low_ns,
            config.high_ns,
            config.problem,
        ]
        for config in tuning.configs
    ]
    return _table(head, rows)


def profile_file(record: Record, name: str) -> bytes:
    """Return the content of a file of a profiler.

    Raises:
        NotFound: the run has no such file.
        NotAnswerable: user code has forged the file.
    """
    files = profile_files(record)
    found = next((file for file in files if file.name == name), None)
    if found is None:
        known = ", ".join(file.name for file in files) or "none"
        raise NotFound(f"This run has no file {name[:100]!r}. It has {known}.")
    try:
        return base64.b64decode(found.data, validate=True)
    except (ValueError, binascii.Error) as error:
        raise NotAnswerable(
            f"The file {name[:100]!r} of this run is not valid Base64. Run the kernel again."
        ) from error


def profile_files(record: Record) -> tuple[ProfileFile, ...]:
    """Return the files of profilers of a run."""
    found = record.measured("files", ProfileFiles)
    return found.files if found else ()


def _names(rows: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV. Texts that a spreadsheet would take for formulas are escaped."""
    text = io.StringIO()
    # Texts are quoted, since programs differ in the separators of cells and lines.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([_as_text(name) for name in head])
    writer.writerows([[_as_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows])
    return text.getvalue()


def _whole(number: float | None) -> float | int | None:
    return int(number) if number is not None and number.is_integer() else number


def _as_text(cell: str) -> str:
    return f"'{cell}" if cell.lstrip().startswith(_COMPUTED) else cell
