"""A forked copy of this process that computes values while this process continues."""

from __future__ import annotations

import contextlib
import marshal
import os
import tempfile
from collections.abc import Iterator
from typing import Any

_LENGTH_BYTES = 8


class ForkedCopy:
    """A forked copy of this process that writes values of built-in types into a file."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # lives until `values` has read it
        self._lengths, lengths = os.pipe()
        self._process = os.fork()
        if self._process == 0:
            # A failure here also occurs in the compilation, which reports it.
            with contextlib.suppress(BaseException):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                for value in values:
                    data = memoryview(marshal.dumps(value))
                    length = len(data)
                    while data:
                        data = data[self._file.write(data) :]
                    os.write(lengths, length.to_bytes(_LENGTH_BYTES, "little"))
            os._exit(0)
        os.close(lengths)

    def values(self) -> Iterator[Any]:
        """Yield the values as they come, until the copy has ended."""
        start = 0
        with self._file:
            while length := int.from_bytes(os.read(self._lengths, _LENGTH_BYTES), "little"):
                yield marshal.loads(os.pread(self._file.fileno(), length, start))  # noqa: S302  # our own copy
                start += length
        os.close(self._lengths)
        os.waitpid(self._process, 0)
