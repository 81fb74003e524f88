"""Reads uploads: captures, and files of other tools about kernels.

Uploads are untrusted, so they are unpacked and read in a process with limits. In: the bytes of a file. Out:
the requests that show its kernels, one after another, and the parts that could not be read.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Literal

import msgspec

from explorer.capture.read import CapturedKernel, Damaged
from explorer.capture.readers import open_kernels
from explorer.capture.readers.archive import unpack
from explorer.capture.readers.bodies import counts_of, request_of
from explorer.errors import InvalidRequest
from explorer.jobs.caller import current_caller
from explorer.jobs.fairness import Places
from explorer.jobs.isolated_process import (
    Awaited,
    IsolatedProcesses,
    Limits,
    confine_process,
    error_of,
    outcome_of,
)

_MOST_UPLOADS = 4
#: The prefix of the name of a temporary folder; the ID of its process follows.
_FOLDER = "triton-explorer-upload-"
_LIMITS = Limits(processor_seconds=60, working_seconds=120.0, memory_bytes=2 << 30)
_TOO_MUCH = (
    "Reading the file needs too much time or memory. Send a part of it, or use `triton-explorer push`, "
    "which reads it on your machine."
)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]")
_LONGEST_NAME, _LONGEST_REASON = 200, 1000


class _Message(msgspec.Struct):
    """A message of the process. A "kernel" is followed by the body of the request at `text`, in bytes."""

    kind: Literal["kernel", "damaged", "title", "refused", "failed", "end"]
    text: str = ""
    detail: str = ""
    name: str = ""
    launches: int | None = None
    milliseconds: float | None = None


_decode = msgspec.json.Decoder(_Message).decode


@dataclass(frozen=True)
class UploadedKernel:
    """A kernel: the path of its API endpoint, the body for it, and the data of the kernel in the session."""

    name: str
    address: str
    body: bytes
    launches: int | None
    milliseconds: float | None


@dataclass(frozen=True)
class UploadTitle:
    """The names of the programs."""

    text: str


Uploaded = UploadedKernel | Damaged | UploadTitle


class Uploads:
    """Reads uploads. Safe to use from many threads: a client has at most half of the places."""

    def __init__(self, limits: Limits = _LIMITS) -> None:
        self._processes = IsolatedProcesses(limits, _TOO_MUCH)
        self._places = Places(_MOST_UPLOADS, "uploads")
        _remove_abandoned_folders()

    def close(self) -> None:
        """End all processes."""
        self._processes.close()

    def read(self, data: bytes, name: str, body_bytes: int, is_awaited: Awaited) -> Iterator[Uploaded]:
        """Yield the contents of a file. Its name decides how it is read; a zip archive is a folder.

        A kernel whose body is longer than `body_bytes` cannot be sent and counts as damaged.

        Raises:
            InvalidRequest: the file has no kernels, or too many of them; the message says why.
            NotAnswerable: reading the file needs too much time or memory, or it is nested too deeply.
            Unavailable: no client waits any more, or the server is too busy or shutting down.
            TooManyRequests, QueueFull: too many uploads are being read.
        """
        with (
            self._places.place(current_caller().client),
            TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-") as folder,
        ):
            file = Path(folder, "upload", _NOT_IN_NAMES.sub("_", name)[-_LONGEST_NAME:].lstrip(".") or "file")
            file.parent.mkdir()
            file.write_bytes(data)
            arguments = (str(file), body_bytes)
            with self._processes.conversation(_work, arguments, is_awaited) as process:
                while (message := _decode(process.receive())).kind != "end":
                    match message.kind:
                        case "kernel":
                            yield UploadedKernel(
                                message.name,
                                message.text,
                                process.receive(),
                                message.launches,
                                message.milliseconds,
                            )
                        case "damaged":
                            yield Damaged(message.name, message.detail)
                        case "title":
                            yield UploadTitle(message.text)
                        case _:
                            raise error_of(message.kind, message.text, message.detail, "import")


def _remove_abandoned_folders() -> None:
    """Remove the folders of servers that were killed."""
    for folder in Path(gettempdir()).glob(f"{_FOLDER}*"):
        process_id = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if process_id.isdigit() and not Path("/proc", process_id).exists():
            shutil.rmtree(folder, ignore_errors=True)  # the folder may belong to another user


# --- in the process -----------------------------------------------------------------------------


def _work(pipe: Connection, limits: Limits, file: str, body_bytes: int) -> None:
    confine_process(limits)
    path = Path(file)

    def read() -> None:
        try:
            for message, body in _messages(path, body_bytes):
                pipe.send_bytes(msgspec.json.encode(message))
                if message.kind == "kernel":
                    pipe.send_bytes(body)
        except InvalidRequest as error:
            raise InvalidRequest(error.detail.replace(f"{path.parent}/", "")) from error

    outcome = outcome_of(read, _TOO_MUCH, "The file is nested too deeply.")
    pipe.send_bytes(msgspec.json.encode(_Message(*outcome)))


def _messages(file: Path, body_bytes: int) -> Iterator[tuple[_Message, bytes]]:
    """Yield the messages about a file, with the bodies of kernels.

    Raises:
        InvalidRequest: the file has no kernels, or too many.
    """
    path = file
    if zipfile.is_zipfile(file):
        path = file.with_suffix("")
        path = path if path != file else file.with_name(f"{file.name}-unpacked")
        path.mkdir()
        for damaged in unpack(file, path):
            yield _damaged(damaged), b""
        path = _inner(path)
    reader = open_kernels(path)
    if reader is None:
        raise InvalidRequest(
            f"{file.name} cannot be imported. Send a trace of tritonparse (.ndjson, .ndjson.gz), a log of "
            "TORCH_TRACE or TORCH_LOGS=output_code (.log), a cubin (.cubin), or a folder as a zip archive."
        )
    if reader.programs:
        yield _Message("title", ", ".join(reader.programs)[:_LONGEST_NAME]), b""
    for kernel in reader.kernels():
        if isinstance(kernel, Damaged):
            yield _damaged(kernel), b""
            continue
        name = kernel.file.kernel if isinstance(kernel, CapturedKernel) else kernel.name
        address, content = request_of(kernel, is_compiled=True)
        body = msgspec.json.encode(content)
        if len(body) > body_bytes:
            reason = f"it has more than {body_bytes:,} bytes with its stages, the limit of this server"
            yield _damaged(Damaged(name, reason)), b""
        else:
            yield _Message("kernel", address, name=name, **counts_of(kernel)), body


def _inner(folder: Path) -> Path:
    """Return the folder that was packed: the only entry of the archive, or the archive's root."""
    while len(entries := list(folder.iterdir())) == 1 and entries[0].is_dir():
        folder = entries[0]
    return folder


def _damaged(each: Damaged) -> _Message:
    return _Message("damaged", name=each.name[:_LONGEST_NAME], detail=each.reason[:_LONGEST_REASON])
