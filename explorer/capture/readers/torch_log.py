"""Reads the logs of PyTorch's compiler: the logs of TORCH_TRACE, and the text of TORCH_LOGS=output_code.

Both have the output code of Inductor, a script for each graph that defines its kernels and launches them.
Other records are ignored. A record of TORCH_TRACE is a line with JSON, followed by the lines of its content,
each after a tab. In the text, each line of the output code has the prefix of a log line.

Source: torch/_logging/_internal.py and torch/_inductor/graph.py, 2.13.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from explorer.capture.read import CannotRead, Damaged, WrittenKernel, decode
from explorer.capture.readers.lines import files_of, lines_of
from explorer.capture.readers.source import LocalSources
from explorer.errors import InvalidRequest
from explorer.model.limits import MOST_CAPTURED_KERNELS

_SUFFIXES = (".log", ".log.gz")
#: Suffixes of a named file. A folder may contain other texts.
_SUFFIXES_OF_FILE = (*_SUFFIXES, ".txt")
_MOST_CODE_BYTES = 16 << 20
_MOST_GRAPHS_AT_ONCE = 64

_RECORD = re.compile(rb'^V\d{4} [^\]\n]{1,300}\] (\{"inductor_output_code".*)', re.DOTALL)
#: The process, its rank and the graph of a log line, and the text of the line.
_TEXT = re.compile(
    rb"((?:\[rank\d{1,6}\]: ?)?[A-Z]\d{4} )[\d:.]{1,20} (\d{1,10} )[^\]\n]{1,300}\]"
    rb"( \[[^\]\n]{1,100}\])? \[__output_code\] (.*)",
    re.DOTALL,
)
_BEGIN, _END = b"Output code: ", b"Output code written to: "

_KERNEL = re.compile(r"^(\w{1,200}) = async_compile\.triton\(", re.MULTILINE)
_KERNEL_END = re.compile(r"^''', device_str=", re.MULTILINE)
_DEVICE = re.compile(r"DeviceProperties\(type='(\w{1,20})'[^)]{0,2000}?\bcc='?(\w{1,20})")


class _Record(msgspec.Struct):
    """The line above the content of a record."""

    has_payload: str = ""


@dataclass
class _Code:
    """The output code of a graph, as far as it is read. `digest` is the digest of the complete code, or
    "".
    """

    place: str
    digest: str = ""
    lines: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, line: bytes) -> None:
        """Add a line. If the code becomes too long, only its size is kept."""
        self.size += len(line) + 1
        if self.size <= _MOST_CODE_BYTES:
            self.lines.append(line)

    def text(self) -> str:
        """Return the code.

        Raises:
            CannotRead: it is too long or incomplete.
        """
        if self.size > _MOST_CODE_BYTES:
            raise CannotRead(f"the output code has more than {_MOST_CODE_BYTES:,} bytes")
        data = b"\n".join(self.lines)
        if self.digest and hashlib.md5(data, usedforsecurity=False).hexdigest() != self.digest:
            raise CannotRead("the output code is incomplete or changed: it does not have its digest")
        return data.decode("utf-8", "replace")


class TorchLogReader:
    """Reads one log, or all logs in a folder."""

    def __init__(self, path: Path, sources: LocalSources | None) -> None:
        del sources  # the logs have them
        self.programs: list[str] = []
        self._paths = files_of(path, _SUFFIXES_OF_FILE if path.is_file() else _SUFFIXES)

    @staticmethod
    def recognizes(path: Path) -> bool:
        """Return whether the path is a log or a folder with a log, by the names of files."""
        return bool(files_of(path, _SUFFIXES_OF_FILE if path.is_file() else _SUFFIXES))

    def kernels(self) -> Iterator[WrittenKernel | Damaged]:
        """Yield each kernel of each graph once: processes and repeated runs write equal output code.

        Raises:
            InvalidRequest: there are more than a session has.
        """
        seen: set[bytes] = set()
        count = 0
        for path in self._paths:
            for found in _codes(path):
                if isinstance(found, Damaged):
                    yield found
                    continue
                try:
                    text = found.text()
                    digest = hashlib.sha256(text.encode()).digest()
                    if digest in seen:
                        continue
                    seen.add(digest)
                    kernels = list(_kernels(text))
                except CannotRead as error:
                    yield Damaged(found.place, str(error))
                    continue
                count += len(kernels)
                if count > MOST_CAPTURED_KERNELS:
                    raise InvalidRequest(
                        f"The logs have more than {MOST_CAPTURED_KERNELS:,} kernels, the limit of a session. "
                        "Send some of the files."
                    )
                yield from kernels


def _codes(path: Path) -> Iterator[_Code | Damaged]:
    """Yield the output code of each graph in a file, complete or not."""
    recorded: _Code | None = None
    logged: dict[tuple[bytes, ...], _Code] = {}
    for place, line in lines_of(path):
        if isinstance(line, CannotRead):
            yield Damaged(place, str(line))
            continue
        line = line.removesuffix(b"\n")
        if line.startswith(b"\t"):
            if recorded is not None:
                recorded.add(line[1:])
            continue
        if recorded is not None:
            yield recorded
            recorded = None
        if (record := _RECORD.match(line)) is not None:
            try:
                recorded = _Code(place, decode(record[1], _Record).has_payload)
            except CannotRead as error:
                yield Damaged(place, str(error))
        elif b"[__output_code] " in line and (text := _TEXT.search(line)) is not None:
            yield from _logged(logged, text, place)
    if recorded is not None:
        yield recorded
    yield from logged.values()


def _logged(logged: dict[tuple[bytes, ...], _Code], line: re.Match[bytes], place: str) -> Iterator[_Code]:
    """Process a line, and yield the output code that it ends. Processes may share the file."""
    key = (line[1], line[2], line[3] or b"")
    text = line[4].removesuffix(b"\r")
    if text.startswith((_BEGIN, _END)):
        if key in logged:
            yield logged.pop(key)
        if text.startswith(_BEGIN):
            while len(logged) >= _MOST_GRAPHS_AT_ONCE:
                yield logged.pop(next(iter(logged)))
            logged[key] = _Code(place)
    elif key in logged:
        logged[key].add(text)


def _kernels(code: str) -> Iterator[WrittenKernel]:
    """Yield the kernels of the output code of a graph.

    Raises:
        CannotRead: a kernel is incomplete, or names no GPU.
    """
    found = list(_KERNEL.finditer(code))
    ends = [*(each.start() for each in found), len(code)][1:]
    for kernel, following in zip(found, ends, strict=True):
        end = _KERNEL_END.search(code, kernel.end(), following)
        if end is None:
            raise CannotRead(f"the output code ends inside of the kernel {kernel[1]}")
        device = _DEVICE.search(code, kernel.end(), end.start())
        if device is None:
            raise CannotRead(f"the kernel {kernel[1]} names no GPU")
        yield WrittenKernel(kernel[1], code, f"{device[1]}:{device[2]}")
