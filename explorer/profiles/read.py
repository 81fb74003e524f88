"""Read recorded profiles: runs of the gallery's kernels on real GPUs.

In: a folder of `<example>.json`, as `triton-explorer record` writes them, and a compilation. Out: its
profiles as records, as in the store, with IDs such as "recorded-matmul-0".

A profile belongs to one kernel and is shown only with this kernel; see `Match`. Invalid files are skipped,
with a message in the log.
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
from explorer.model import Done, Request, Run, Scalar
from explorer.model.hardware import TARGETS
from explorer.model.measurements import MEASUREMENTS, Environment, MeasurementDocument
from explorer.store import Entry, MeasurementEntry, Record

FORMAT = 1
MOST_BYTES = 16 * 1024 * 1024
#: Limits of a folder, which is kept in memory.
MOST_FILES = 200
MOST_FOLDER_BYTES = 256 * 1024 * 1024
#: Longest text that lists of runs show of a profile.
_MOST_CHARACTERS = 1_000
#: The name of an example is part of an ID, and so of addresses.
_EXAMPLE = re.compile(r"[A-Za-z0-9_]{1,100}")
ID_PREFIX = "recorded-"

#: How a profile matches a compilation: it has the same kernel; the same except for the version of Triton; the
#: same except for the configuration, options or launch; or an earlier text of the same kernel of the gallery.
Match = Literal["exact", "other triton", "other config", "same kernel"]
MATCHES: tuple[Match, ...] = ("exact", "other triton", "other config", "same kernel")
_log = logging.getLogger(__name__)


class ProfileError(ExplorerError):
    """A file has no valid profiles."""


class ProfiledRequest(msgspec.Struct, frozen=True):
    """The request of a run. `launch` and `config` are the chosen values, also if the request named none."""

    kernel: str
    target: str
    triton: str
    launch: int | None
    config: int | None
    options: dict[str, Scalar]
    source_sha256: str
    run: Run


class ProfiledRun(msgspec.Struct, frozen=True):
    """One run and its measurements by name."""

    request: ProfiledRequest
    measurements: dict[str, msgspec.Raw]


class ProfilesFile(msgspec.Struct, frozen=True):
    """All runs of one script of the gallery. `date` is in UTC."""

    format: int
    example: str
    command: str
    date: datetime
    runs: tuple[ProfiledRun, ...]


@dataclass(frozen=True)
class Profile:
    """One recorded run."""

    id: str
    example: str
    command: str
    date: datetime
    request: ProfiledRequest
    measurements: dict[str, bytes]

    @cached_property
    def environment(self) -> Environment | None:
        """The machine that it was measured on."""
        data = self.measurements.get("environment")
        return None if data is None else msgspec.json.decode(data, type=Environment)

    @cached_property
    def record(self) -> Record:
        """The run as a record."""
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
            run=replace(asked.run),  # msgspec leaves fields unset that the file leaves out
        )
        entries: list[Entry] = [MeasurementEntry(name, name) for name in self.measurements]
        entries.append(Done("complete", 0.0))
        # Answers about it are cached under its content, like answers about stored runs.
        documents = (name.encode() + b"\0" + data for name, data in self.measurements.items())
        content = sha256(b"".join(documents)).hexdigest()
        return Record(
            self.id,
            request,
            self.date,
            "complete",
            tuple(entries),
            True,
            content,
            self.measurements.__getitem__,
        )

    def match(self, compilation: Record) -> Match | None:
        """Return how the profile matches a compilation, or None."""
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


class Profiles:
    """The profiles of a folder, which is read when they are first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reading = threading.Lock()
        self._all: dict[str, Profile] | None = None

    @property
    def all(self) -> dict[str, Profile]:
        """All profiles by ID."""
        with self._reading:
            if self._all is None:
                self._all = _read_folder(self._folder)
            return self._all

    def find(self, profile_id: str) -> Profile:
        """Return a profile by its ID.

        Raises:
            NotFound: there is none.
        """
        found = self.all.get(profile_id)
        if found is None:
            raise NotFound(f"There is no profile {profile_id!r} on this server. Check the link.")
        return found

    def of_example(self, name: str) -> Profile | None:
        """Return the newest profile of an example of the gallery, or None."""
        found = [profile for profile in self.all.values() if profile.example == name]
        return max(found, key=lambda profile: profile.date, default=None)

    def matching(self, compilation: Record) -> list[tuple[Profile, Match]]:
        """Return the profiles that match a compilation, closest first, then newest first."""
        pairs = [(profile, profile.match(compilation)) for profile in self.all.values()]
        found = [(profile, match) for profile, match in pairs if match is not None]
        found.sort(key=lambda pair: pair[0].date, reverse=True)
        return sorted(found, key=lambda pair: MATCHES.index(pair[1]))


def _read_folder(folder: Path) -> dict[str, Profile]:
    """Read all profiles of a folder, by ID. Invalid files are skipped and logged."""
    found: dict[str, Profile] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except FileNotFoundError:
        return found  # there are no profiles yet
    except OSError as error:
        _log.error("Cannot read the folder of profiles %s: %s", _printable(folder), error)
        return found
    if more := len(paths[MOST_FILES:]):
        _log.error("%s: skipped %d files, because at most %d are read", _printable(folder), more, MOST_FILES)
    room = MOST_FOLDER_BYTES
    for path in paths[:MOST_FILES]:
        try:
            profiles = read_profiles(path)
            room -= sum(len(data) for profile in profiles for data in profile.measurements.values())
            if room < 0:
                raise ProfileError(
                    f"the profiles of the folder have more than {MOST_FOLDER_BYTES:,} bytes with it"
                )
            for profile in profiles:
                if profile.id in found:
                    raise ProfileError(f"another file also has profiles of {profile.example}")
            found.update((profile.id, profile) for profile in profiles)
        except (ProfileError, OSError) as error:
            _log.error("Skipped %s: %s", _printable(path), error)
    return found


def _printable(path: Path) -> str:
    """Return a path as one line of a log; special characters are escaped."""
    return str(path) if str(path).isprintable() else ascii(str(path))


def _read(path: Path) -> bytes:
    """Return the bytes of a regular file that is in its folder.

    Raises:
        ProfileError: the path is not a regular file in the folder, or the file is too long.
    """
    if not path.is_file():
        raise ProfileError("it is not a regular file")
    if not path.resolve().is_relative_to(path.parent.resolve()):
        raise ProfileError("it is a link to outside of its folder")
    # It may have become a pipe since, which must not block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ProfileError("it is not a regular file")
        if status.st_size > MOST_BYTES:
            raise ProfileError(f"it has {status.st_size:,} bytes; the limit is {MOST_BYTES:,}")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ProfileError(f"it has grown to more than {MOST_BYTES:,} bytes")
    return data


def read_profiles(path: Path) -> list[Profile]:
    """Read the profiles of one file.

    Raises:
        ProfileError: it is too long, has another format, or is invalid.
        OSError: it cannot be read.
    """
    data = _read(path)
    try:
        file = msgspec.json.decode(data, type=ProfilesFile)
        if file.format != FORMAT:
            raise ProfileError(f"its format is {file.format}; this program reads format {FORMAT}")
        if not _EXAMPLE.fullmatch(file.example):
            raise ProfileError(
                f"{file.example[:50]!r} is not a valid name of an example: letters, digits and _"
            )
        for run in file.runs:
            if run.request.target not in {target.name for target in TARGETS}:
                raise ProfileError(f"unknown target {run.request.target[:50]!r}")
            shown = (file.command, run.request.kernel, run.request.triton, run.request.source_sha256)
            if any(len(text) > _MOST_CHARACTERS for text in shown):
                raise ProfileError(f"its command or a name is longer than {_MOST_CHARACTERS:,} characters")
        return [
            Profile(
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
        raise ProfileError(str(error)[:300]) from error


def checked_document(name: str, data: bytes) -> bytes:
    """Check the document of a measurement and return it.

    Raises:
        ProfileError: it is invalid.
    """
    decode_document(name, data)
    return data


def decode_document(name: str, data: bytes) -> MeasurementDocument:
    """Decode the document of a measurement.

    Raises:
        ProfileError: it is invalid.
    """
    kind = MEASUREMENTS.get(name)
    if kind is None:
        raise ProfileError(f"unknown measurement {name[:50]!r}")
    try:
        return msgspec.json.decode(data, type=kind.document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ProfileError(f"the measurement {name}: {str(error)[:300]}") from error


def _sha256(text: str) -> str:
    return sha256(text.encode("utf-8", errors="replace")).hexdigest()
