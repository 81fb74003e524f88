"""What a job prints, kept within bounds: the first half and the last half of so many bytes. Jail side."""

from __future__ import annotations

import os
from collections import deque

_READ_BYTES = 1 << 16


def shorten(head: bytes, cut_bytes: int, tail: bytes) -> str:
    """Join what is kept, and say between the two how much is missing."""
    text = head.decode("utf-8", "replace")
    if cut_bytes:
        text += f"\n[… {cut_bytes:,} bytes left out …]\n"
    return text + tail.decode("utf-8", "replace")


class CapturedPipe:
    """Reads a pipe for as long as somebody writes, and forgets the middle."""

    def __init__(self, descriptor: int, limit_bytes: int) -> None:
        self.descriptor = descriptor
        self._half = limit_bytes // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._cut_bytes = 0

    def read(self) -> bool:
        """Take what has arrived; False at the end of the stream."""
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
        """Take what is in the pipe already, without waiting for more; a pipe holds no more than this."""
        os.set_blocking(self.descriptor, False)
        for _ in range(1 + (1 << 20) // _READ_BYTES):
            try:
                if not self.read():
                    return
            except BlockingIOError:
                return

    def text(self) -> str:
        """Return what was kept."""
        tail = b"".join(self._tail)
        surplus = max(len(tail) - self._half, 0)
        return shorten(bytes(self._head), self._cut_bytes + surplus, tail[surplus:])


class CapturedFile:
    """A nameless file that collects a stream. A pipeline can read back there what its tools have said."""

    def __init__(self, folder: str, limit_bytes: int) -> None:
        path = f"{folder}/.stderr"
        self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        os.unlink(path)  # noqa: PTH108
        self._half = limit_bytes // 2

    def text(self) -> str:
        """Return the beginning and the end of what was written."""
        size = os.fstat(self.descriptor).st_size
        head = os.pread(self.descriptor, self._half, 0)
        cut_bytes = max(size - 2 * self._half, 0)
        return shorten(head, cut_bytes, os.pread(self.descriptor, self._half, len(head) + cut_bytes))

    def last_text(self, limit_bytes: int = 8192) -> str:
        """Return the last few thousand bytes."""
        size = os.fstat(self.descriptor).st_size
        return os.pread(self.descriptor, limit_bytes, max(size - limit_bytes, 0)).decode("utf-8", "replace")
