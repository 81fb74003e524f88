"""Recorded runs: what was measured of the gallery's kernels on real GPUs, read from files.

In: a folder of `<example>.json`, as `triton-explorer record` writes them, and a compilation. Out: its runs,
as records like those of the store, under ids of their own ("recorded-matmul-0").

A profile belongs to one kernel, and is never shown beside another one: see `Match`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from explorer.errors import ExplorerError, NotFound
from explorer.examples import find_example
from explorer.measurements import MEASUREMENTS, Environment, MeasurementDocument
from explorer.model import Done, Request, Run, Scalar
from explorer.pipeline.targets import TARGETS
from explorer.store import Entry, MeasurementEntry, Record

FORMAT = 1
MOST_BYTES = 16 * 1024 * 1024
#: The name of an example becomes part of an id, and so of addresses.
_EXAMPLE = re.compile(r"[A-Za-z0-9_]{1,100}")
ID_PREFIX = "recorded-"

#: What a recording has to do with a compilation: it is of the very same kernel; the same but for the
#: version of Triton; the same but for its configuration, options or launch; or of the gallery's kernel as
#: its text was then, beside the gallery's kernel as its text is now.
Match = Literal["exact", "other triton", "other config", "same kernel"]
MATCHES: tuple[Match, ...] = ("exact", "other triton", "other config", "same kernel")
_log = logging.getLogger(__name__)


class RecordingError(ExplorerError):
    """A file is no recording."""


class RecordedRequest(msgspec.Struct, frozen=True):
    """What was run. `launch` and `config` are those that were taken, also where none was asked for."""

    kernel: str
    target: str
    triton: str
    launch: int | None
    config: int | None
    options: dict[str, Scalar]
    source_sha256: str
    run: Run


class RecordedRun(msgspec.Struct, frozen=True):
    """One run and its documents by their names."""

    request: RecordedRequest
    measurements: dict[str, msgspec.Raw]


class RecordingFile(msgspec.Struct, frozen=True):
    """All runs of one script of the gallery. `date` is in UTC."""

    format: int
    example: str
    command: str
    date: datetime
    runs: tuple[RecordedRun, ...]


@dataclass(frozen=True)
class Recording:
    """One recorded run."""

    id: str
    example: str
    command: str
    date: datetime
    request: RecordedRequest
    measurements: dict[str, bytes]

    @cached_property
    def environment(self) -> Environment | None:
        """What it was measured on."""
        data = self.measurements.get("environment")
        return None if data is None else msgspec.json.decode(data, type=Environment)

    @cached_property
    def record(self) -> Record:
        """The run as the views know runs."""
        asked = self.request
        request = Request(
            source="",
            target=asked.target,
            triton=asked.triton,
            kernel=asked.kernel,
            launch=asked.launch,
            config=asked.config,
            options=asked.options,
            task="run",
            run=replace(asked.run),  # msgspec leaves out of an object what was left out of the file
        )
        entries: list[Entry] = [MeasurementEntry(name, name) for name in self.measurements]
        entries.append(Done("complete", 0.0))
        return Record(
            self.id, request, self.date, "complete", tuple(entries), True, None, self.measurements.__getitem__
        )

    def match(self, compilation: Record) -> Match | None:
        """What it has to do with a compilation; None: nothing."""
        asked, wanted = self.request, compilation.request
        specialized = compilation.result.specialized
        if compilation.kernel != asked.kernel or wanted.target != asked.target:
            return None
        launch = specialized.launch if specialized else wanted.launch
        config = specialized.config if specialized else wanted.config
        if _sha256(wanted.source) != asked.source_sha256:
            example = find_example(self.example)
            return "same kernel" if example is not None and example.source == wanted.source else None
        is_same_way = (launch, config, wanted.options) == (asked.launch, asked.config, asked.options)
        if wanted.arguments is not None or not is_same_way:
            return "other config"
        return "exact" if wanted.triton == asked.triton else "other triton"


class Recordings:
    """The recorded runs of a folder, read when somebody first asks for them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def all(self) -> dict[str, Recording]:
        """Every recording by its id. A file that is none is left out, and the log says why."""
        found: dict[str, Recording] = {}
        for path in sorted(self._folder.glob("*.json")):
            try:
                found.update((recording.id, recording) for recording in read_recordings(path))
            except (RecordingError, OSError) as error:
                _log.error("%s is left out: %s", path, error)
        return found

    def find(self, recording_id: str) -> Recording:
        """A recording by its id.

        Raises:
            NotFound: there is none.
        """
        found = self.all.get(recording_id)
        if found is None:
            raise NotFound(f"There is no recording {recording_id!r} here. Check the link.")
        return found

    def matching(self, compilation: Record) -> list[tuple[Recording, Match]]:
        """The recordings that say something of a compilation, the closest first, then the newest."""
        pairs = [(recording, recording.match(compilation)) for recording in self.all.values()]
        found = [(recording, match) for recording, match in pairs if match is not None]
        found.sort(key=lambda pair: pair[0].date, reverse=True)
        return sorted(found, key=lambda pair: MATCHES.index(pair[1]))


def read_recordings(path: Path) -> Iterable[Recording]:
    """The recordings of one file.

    Raises:
        RecordingError: it is too long, of another format, or not what its names say.
    """
    try:
        if not path.is_file():
            raise RecordingError("it is no file")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise RecordingError(f"it has {size:,} bytes; at most {MOST_BYTES:,} are read")
        file = msgspec.json.decode(path.read_bytes(), type=RecordingFile)
        if file.format != FORMAT:
            raise RecordingError(f"its format is {file.format}; this program reads format {FORMAT}")
        if not _EXAMPLE.fullmatch(file.example):
            raise RecordingError(f"{file.example[:50]!r} is no example's name: letters, digits and _ only")
        for run in file.runs:
            if run.request.target not in {target.name for target in TARGETS}:
                raise RecordingError(f"there is no target {run.request.target[:50]!r}")
        return [
            Recording(
                f"{ID_PREFIX}{file.example}-{number}",
                file.example,
                file.command,
                file.date.replace(tzinfo=file.date.tzinfo or UTC),
                run.request,
                {name: checked_document(name, bytes(data)) for name, data in run.measurements.items()},
            )
            for number, run in enumerate(file.runs)
        ]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(str(error)[:300]) from error


def checked_document(name: str, data: bytes) -> bytes:
    """The document of a measurement, if it is one.

    Raises:
        RecordingError: it is not.
    """
    decode_document(name, data)
    return data


def decode_document(name: str, data: bytes) -> MeasurementDocument:
    """A measurement's document as its type.

    Raises:
        RecordingError: it is none.
    """
    wanted = MEASUREMENTS.get(name)
    if wanted is None:
        raise RecordingError(f"unknown measurement {name[:50]!r}")
    try:
        return msgspec.json.decode(data, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordingError(f"the measurement {name}: {str(error)[:300]}") from error


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", errors="replace")).hexdigest()
