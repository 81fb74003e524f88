"""Reads the folder of a capture. Its content is not trusted.

Nothing in it is executed or unpickled. Each file is limited in size, must be a regular file, and is checked
against its type or its digest. A damaged kernel is reported as a problem, and the other kernels are read.
"""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from explorer.capture.folder import VERSION
from explorer.capture.graphs import GraphFile, GraphKernels
from explorer.errors import InvalidRequest
from explorer.model import BINARY_STAGES, Captured, Origin, Scalar
from explorer.model.limits import (
    MOST_CAPTURED_KERNELS,
    MOST_LAUNCHES,
    MOST_STEP_MILLISECONDS,
    MOST_TEXT_BYTES,
)

_MOST_PROCESSES = 20_000
_MOST_GRAPHS = 20_000
_DOCUMENT_BYTES = 16 << 20
LONGEST_KERNEL_NAME = 200
_Digest = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Document = TypeVar("Document")

_StageName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
_Number = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]


class CannotRead(Exception):
    """A file of a capture is invalid. The message says why."""


class TargetPart(msgspec.Struct, frozen=True):
    """The GPU that a kernel was compiled for, as Triton describes it."""

    backend: Annotated[str, msgspec.Meta(max_length=40)]
    arch: Annotated[str, msgspec.Meta(max_length=40)]
    warp_size: int

    @property
    def name(self) -> str:
        """The name of the target in a request."""
        return f"{self.backend}:{self.arch}"


class KernelFile(msgspec.Struct, frozen=True):
    """The content of `kernels/<identity>.json`; other fields are for other readers."""

    version: int
    kernel: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_KERNEL_NAME)]
    triton: Annotated[str, msgspec.Meta(max_length=40)]
    target: TargetPart
    script: str
    origins: Annotated[list[tuple[str, _Number, _Number, _Number]], msgspec.Meta(max_length=10_000)]
    options: dict[str, object]
    metadata: dict[str, object]
    stages: Annotated[dict[_StageName, _Digest], msgspec.Meta(max_length=32)]
    error: str
    milliseconds: dict[str, Annotated[float, msgspec.Meta(ge=0, le=MOST_STEP_MILLISECONDS)]] | None = None
    cache_hit: bool = False
    problems: list[str] = []


Versioned = TypeVar("Versioned", KernelFile, GraphFile)


class _ProcessFile(msgspec.Struct, frozen=True):
    version: int
    program: str = ""
    launches: dict[str, Annotated[int, msgspec.Meta(ge=0, le=MOST_LAUNCHES)]] = {}


class _FolderFile(msgspec.Struct, frozen=True):
    format: str
    version: int


@dataclass(frozen=True)
class CapturedKernel:
    """One kernel of a capture. `launches` is None if they were not counted.

    `has_launch`: the script compiles the kernel as the program did. `files` are the files of the program, by
    path, that the nodes of a kernel of PyTorch's compiler come from.
    """

    identity: str
    file: KernelFile
    captured: Captured
    launches: int | None
    has_launch: bool = True
    files: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class WrittenKernel:
    """A kernel that a compiler has written in Python, and whose stages are not known."""

    name: str
    source: str
    target: str


@dataclass(frozen=True)
class Damaged:
    """A file of a capture that cannot be read."""

    name: str
    reason: str


class CaptureReader:
    """Reads one folder."""

    def __init__(self, folder: Path) -> None:
        """Check that the folder is a capture.

        Raises:
            InvalidRequest: it is not a capture, or a capture of a later version.
        """
        self._folder = folder
        try:
            file = decode(read_file(folder / "capture.json", _DOCUMENT_BYTES), _FolderFile)
        except CannotRead as error:
            raise InvalidRequest(f"{folder} is not a capture: {error}.") from error
        if file.format != "triton-explorer capture" or not 1 <= file.version <= VERSION:
            raise InvalidRequest(
                f"{folder} is a capture of version {file.version}; this triton-explorer reads versions up to "
                f"{VERSION}. Install a newer one."
            )
        for name in ("blobs", "graphs", "kernels", "processes"):
            if (folder / name).is_symlink():
                raise InvalidRequest(f"{folder / name} is a symbolic link. Copy the folder of the capture.")
        self.programs, self._launches = self._processes()

    def kernels(self) -> Iterator[CapturedKernel | Damaged]:
        graphs = GraphKernels()
        for path in self._files("graphs", _MOST_GRAPHS):
            try:
                graph = _document(path, GraphFile)
                graphs.add(graph, self._text(graph.code), self._text)
            except CannotRead as error:
                yield Damaged(f"graphs/{path.name}", str(error))
        for path in self._files("kernels", MOST_CAPTURED_KERNELS):
            try:
                yield self._kernel(path, graphs)
            except CannotRead as error:
                yield Damaged(f"kernels/{path.name}", str(error))

    def _files(self, name: str, most: int) -> list[Path]:
        """Return the files of a folder; none if the capture of an earlier version lacks the folder."""
        folder = self._folder / name
        return _json_files(folder, most) if folder.exists() else []

    def _kernel(self, path: Path, graphs: GraphKernels) -> CapturedKernel:
        file = _document(path, KernelFile)
        script, files = graphs.complete(file.kernel, file.script)
        file = msgspec.structs.replace(file, script=script)
        stages = {name: stage_text(name, self._blob(digest)) for name, digest in file.stages.items()}
        return CapturedKernel(
            path.stem, file, captured_of(file, stages), self._launches.get(path.stem), files=files
        )

    def _text(self, digest: str) -> str:
        return self._blob(digest).decode("utf-8", "replace")

    def _blob(self, digest: str) -> bytes:
        data = read_file(self._folder / "blobs" / digest, MOST_TEXT_BYTES)
        if hashlib.sha256(data).hexdigest() != digest:
            raise CannotRead(f"the content of blobs/{digest} does not have this digest")
        return data

    def _processes(self) -> tuple[list[str], dict[str, int]]:
        """Return the names of the programs, and the launches of each kernel by its identity."""
        programs: dict[str, None] = {}
        launches: Counter[str] = Counter()
        for path in self._files("processes", _MOST_PROCESSES):
            try:
                file = decode(read_file(path, _DOCUMENT_BYTES), _ProcessFile)
            except CannotRead:  # the capture still has the kernels of the process
                continue
            if file.program:
                programs[file.program[:200]] = None
            launches.update(file.launches)
        return list(programs), {name: min(count, MOST_LAUNCHES) for name, count in launches.items()}


def captured_of(file: KernelFile, stages: dict[str, str]) -> Captured:
    """Return the fields of a kernel in a request. A binary is in base 64."""
    return Captured(
        kernel=file.kernel,
        triton=file.triton,
        stages=stages,
        origins=tuple(Origin(*origin) for origin in file.origins),
        options=_scalars(file.options),
        metadata=_scalars(file.metadata),
        milliseconds=file.milliseconds or {},
        error=file.error,
    )


def stage_text(name: str, data: bytes) -> str:
    """Return the text of a stage, or a binary in base 64."""
    if name in BINARY_STAGES:
        return base64.b64encode(data).decode("ascii")
    return data.decode("utf-8", "replace")


def _json_files(folder: Path, most: int) -> list[Path]:
    """Return the files of a folder whose names follow the format of captures, in the order of their times.

    Raises:
        InvalidRequest: there are too many.
    """
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
                if len(found) > most:
                    raise InvalidRequest(
                        f"{folder} has more than {most:,} files, the limit. Remove some of them."
                    )
    except OSError as error:
        raise InvalidRequest(f"Cannot read {folder}: {error.strerror}.") from error
    return [folder / name for _, name in sorted(found)]


def read_file(path: Path, most_bytes: int) -> bytes:
    """Read a regular file; links and devices are refused."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise CannotRead(f"cannot read {path.name}: {error.strerror}") from error
    with open(descriptor, "rb") as file:  # noqa: PTH123  a descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise CannotRead(f"{path.name} is not a regular file")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise CannotRead(f"{path.name} has more than {most_bytes:,} bytes")
    return data


def _document(path: Path, wanted: type[Versioned]) -> Versioned:
    """Read a file of a kernel or a graph.

    Raises:
        CannotRead: it is damaged, or of a later version.
    """
    file = decode(read_file(path, _DOCUMENT_BYTES), wanted)
    if file.version > VERSION:
        raise CannotRead(f"its version is {file.version}")
    return file


def decode(data: bytes, wanted: type[Document]) -> Document:
    try:
        return msgspec.json.decode(data, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CannotRead(str(error)[:300]) from error


def _scalars(values: dict[str, object]) -> dict[str, Scalar]:
    """Return the values that are numbers or short texts."""
    return {
        name: value
        for name, value in values.items()
        if value is None or isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 1000)
    }
