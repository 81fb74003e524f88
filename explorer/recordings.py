"""Recorded runs: what was measured of the gallery's kernels on real GPUs, read from files.

In: a folder of `<example>.json`, as `triton-explorer record` writes them, and a compilation. Out: its runs,
as records like those of the store, under ids of their own ("recorded-matmul-0").

A profile belongs to one kernel, and is never shown beside another one: see `Match`. Whatever is in the
folder, the server serves: what is no recording is left out, and the log says so once.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import threading
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
#: Of a folder: they are kept in memory.
MOST_FILES = 200
MOST_FOLDER_BYTES = 256 * 1024 * 1024
#: Of what every list of runs shows of a recording.
_MOST_CHARACTERS = 1_000
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
        self._reading = threading.Lock()
        self._all: dict[str, Recording] | None = None

    @property
    def all(self) -> dict[str, Recording]:
        """Every recording by its id."""
        with self._reading:
            if self._all is None:
                self._all = _read_folder(self._folder)
            return self._all

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


def _read_folder(folder: Path) -> dict[str, Recording]:
    """Every recording of a folder by its id. A file that is none is left out, and the log says why."""
    found: dict[str, Recording] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return found  # nothing was recorded yet
    except OSError as error:
        _log.error("%s is left out: %s", _named(folder), error)
        return found
    if more := len(paths[MOST_FILES:]):
        _log.error("%s: %d of its files are left out: %d are read", _named(folder), more, MOST_FILES)
    room = MOST_FOLDER_BYTES
    for path in paths[:MOST_FILES]:
        try:
            recordings = read_recordings(path)
            room -= sum(len(data) for recording in recordings for data in recording.measurements.values())
            if room < 0:
                raise RecordingError(
                    f"those before it have {MOST_FOLDER_BYTES:,} bytes, which is all that is kept"
                )
            for recording in recordings:
                if recording.id in found:
                    raise RecordingError(f"{recording.example} is in another file, too")
            found.update((recording.id, recording) for recording in recordings)
        except (RecordingError, OSError) as error:
            _log.error("%s is left out: %s", _named(path), error)
    return found


def _named(path: Path) -> str:
    """A path on one line of a log, whatever its name."""
    return str(path) if str(path).isprintable() else ascii(str(path))


def _read(path: Path) -> bytes:
    """The bytes of a file that is in the folder where its name is.

    Raises:
        RecordingError: it is none, or too long.
    """
    if not path.is_file():
        raise RecordingError("it is no file")
    if not path.resolve().is_relative_to(path.parent.resolve()):
        raise RecordingError("it is a link that leads out of its folder")
    # What has become a pipe since must not be waited for.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise RecordingError("it is no file")
        if status.st_size > MOST_BYTES:
            raise RecordingError(f"it has {status.st_size:,} bytes; at most {MOST_BYTES:,} are read")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise RecordingError(f"it grows, and has more than {MOST_BYTES:,} bytes")
    return data


def read_recordings(path: Path) -> list[Recording]:
    """The recordings of one file.

    Raises:
        RecordingError: it is too long, of another format, or not what its names say.
        OSError: it cannot be read.
    """
    data = _read(path)
    try:
        file = msgspec.json.decode(data, type=RecordingFile)
        if file.format != FORMAT:
            raise RecordingError(f"its format is {file.format}; this program reads format {FORMAT}")
        if not _EXAMPLE.fullmatch(file.example):
            raise RecordingError(f"{file.example[:50]!r} is no example's name: letters, digits and _ only")
        for run in file.runs:
            if run.request.target not in {target.name for target in TARGETS}:
                raise RecordingError(f"there is no target {run.request.target[:50]!r}")
            shown = (file.command, run.request.kernel, run.request.triton, run.request.source_sha256)
            if any(len(text) > _MOST_CHARACTERS for text in shown):
                raise RecordingError(f"its command or a name is longer than {_MOST_CHARACTERS:,} characters")
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
