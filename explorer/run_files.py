"""What a run has measured as files to take home: tables for a spreadsheet, and the profilers' own files."""

from __future__ import annotations

import base64
import binascii
import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, repeat, zip_longest

import msgspec

from explorer.errors import NotFound, StoreError
from explorer.measurements import Autotuning, ProfileFile, ProfileFiles, Sweep
from explorer.store import Record

#: What spreadsheets compute begins with one of these, also of full width.
_COMPUTED = tuple("=+-@＝＋－＠")


class FileRow(msgspec.Struct, frozen=True):
    """A profiler's file without its data; base64 says how long it is."""

    name: str
    media_type: str
    bytes: int


class FilesDocument(msgspec.Struct, frozen=True):
    """The profilers' files of a run."""

    files: list[FileRow]


def files_document(record: Record) -> FilesDocument:
    """What files there are: they may be long, and few are looked at."""
    rows = [
        FileRow(file.name, file.media_type, len(file.data) * 3 // 4 - file.data[-2:].count("="))
        for file in profile_files(record)
    ]
    return FilesDocument(rows)


def sweep_table(record: Record) -> str:
    """The sweep of a run: a column for each size, and three for each line.

    Raises:
        NotFound: it has none.
    """
    sweep = msgspec.json.decode(record.measurement("sweep"), type=Sweep)
    head = list(sweep.size_names)
    for line in sweep.lines:
        head += [f"{line} ({sweep.unit})", f"{line} low", f"{line} high"]
    rows = []
    for point in sweep.points:
        row: list[object] = [_whole(point.sizes.get(name)) for name in sweep.size_names]
        # A run's own code may have forged it: a point may have more values than lines, or fewer.
        values = zip_longest(point.values, point.low, point.high)
        for value in islice(chain(values, repeat((None, None, None))), len(sweep.lines)):
            row += value
        rows.append(row)
    return _table(head, rows)


def autotuning_table(record: Record) -> str:
    """The configurations of a run with their times.

    Raises:
        NotFound: it has none.
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
    """A file of a profiler.

    Raises:
        NotFound: the run has no such file.
    """
    files = profile_files(record)
    found = next((file for file in files if file.name == name), None)
    if found is None:
        known = ", ".join(file.name for file in files) or "none"
        raise NotFound(f"This run has no file {name[:100]!r}. It has {known}.")
    try:
        return base64.b64decode(found.data, validate=True)
    except (ValueError, binascii.Error) as error:
        raise StoreError(f"The file {name[:100]!r} of this run is damaged. Run it again.") from error


def profile_files(record: Record) -> tuple[ProfileFile, ...]:
    """The profilers' files of a run."""
    found = record.measured("files", ProfileFiles)
    return found.files if found else ()


def _names(rows: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _table(head: list[str], rows: Iterable[Sequence[object]]) -> str:
    """A table as a spreadsheet reads it. A text that it would compute is only a text."""
    text = io.StringIO()
    # Where lines end and cells are parted is not the same for every program: texts are quoted.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow([_as_text(name) for name in head])
    writer.writerows([[_as_text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows])
    return text.getvalue()


def _whole(number: float | None) -> float | int | None:
    return int(number) if number is not None and number.is_integer() else number


def _as_text(cell: str) -> str:
    return f"'{cell}" if cell.lstrip().startswith(_COMPUTED) else cell
