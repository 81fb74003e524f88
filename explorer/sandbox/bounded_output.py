"""Bounded copies of the output of a job: the first and the last half of a number of bytes. Jail side."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections import deque

_READ_BYTES = 1 << 16


def shorten(head: bytes, cut_bytes: int, tail: bytes) -> str:
    """Join the two kept parts, with the number of bytes left out between them."""
    text = head.decode("utf-8", "replace")
    if cut_bytes:
        text += f"\n[… {cut_bytes:,} bytes left out …]\n"
    return text + tail.decode("utf-8", "replace")


class BoundedPipe:
    """Reads a pipe until its end, and keeps the beginning and the end of the data."""

    def __init__(self, descriptor: int, limit_bytes: int) -> None:
        self.descriptor = descriptor
        self._half = limit_bytes // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._cut_bytes = 0

    def read(self) -> bool:
        """Read the available data. Return False at the end of the stream."""
        data = os.read(self.descriptor, _READ_BYTES)
        room = self._half - len(self._head)
        self._head += data[:room]
        if rest := data[room:]:
            self._tail.append(rest)
            self._tail_bytes += len(rest)
            while self._tail_bytes - len(self._tail[0]) >= self._half:
                dropped = len(self._tail.popleft())
                self._tail_bytes -= dropped
                self._cut_bytes += dropped
        return bool(data)

    def drain(self) -> None:
        """Read the rest of the pipe, without waiting for more."""
        os.set_blocking(self.descriptor, False)
        for _ in range(1 + (1 << 20) // _READ_BYTES):
            try:
                if not self.read():
                    return
            except BlockingIOError:
                return

    def text(self) -> str:
        """Return the kept data as text."""
        tail = b"".join(self._tail)
        surplus = max(len(tail) - self._half, 0)
        return shorten(bytes(self._head), self._cut_bytes + surplus, tail[surplus:])


class BoundedFile:
    """An unnamed file that collects a stream. The pipeline reads the output of its tools from it."""

    def __init__(self, folder: str, limit_bytes: int) -> None:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            self.descriptor = os.dup(file.fileno())
        fcntl.fcntl(self.descriptor, fcntl.F_SETFL, os.O_APPEND)
        self._half = limit_bytes // 2

    def text(self) -> str:
        """Return the beginning and the end of the data as text."""
        size = os.fstat(self.descriptor).st_size
        head = os.pread(self.descriptor, self._half, 0)
        cut_bytes = max(size - 2 * self._half, 0)
        return shorten(head, cut_bytes, os.pread(self.descriptor, self._half, len(head) + cut_bytes))

    def last_text(self, limit_bytes: int = 8192) -> str:
        size = os.fstat(self.descriptor).st_size
        return os.pread(self.descriptor, limit_bytes, max(size - limit_bytes, 0)).decode("utf-8", "replace")
