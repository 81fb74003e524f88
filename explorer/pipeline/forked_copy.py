"""A forked copy of this process that computes values while this process continues."""

from __future__ import annotations

import contextlib
import marshal
import math
import os
import resource
import select
import signal
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from explorer.pipeline.time_limit import waited_seconds

_LENGTH_BYTES = 8
#: Texts become 10 to 20 times shorter. The size of a file is limited in a jail.
_COMPRESSION_LEVEL = 1
_LOWEST_PRIORITY = 19
_LOOK_SECONDS = 0.1
_WAITING_FACTOR = 3


class ForkedCopy:
    """A forked copy of this process that writes values of built-in types into a file.

    With `memory_bytes`, the copy has the lowest priority, and may use as much more address space than this
    process does now.
    """

    def __init__(self, values: Iterator[Any], memory_bytes: int | None = None) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # lives until `values` has read it
        self._lengths, lengths = os.pipe()
        #: Whether the copy was ended before it had computed all values.
        self.was_stopped = False
        self._process = os.fork()
        if self._process == 0:
            # A failure here also occurs in the compilation, which reports it.
            with contextlib.suppress(BaseException):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                if memory_bytes is not None:
                    os.nice(_LOWEST_PRIORITY)
                    _limit_memory(memory_bytes)
                for value in values:
                    data = memoryview(zlib.compress(marshal.dumps(value), _COMPRESSION_LEVEL))
                    length = len(data)
                    while data:
                        data = data[self._file.write(data) :]
                    os.write(lengths, length.to_bytes(_LENGTH_BYTES, "little"))
            os._exit(0)
        os.close(lengths)

    def values(self, seconds: float = math.inf) -> Iterator[Any]:
        """Yield the values as they come, until the copy has ended, but no longer than some seconds.

        The time in which the copy waits for a processor does not count, up to three times these seconds.
        """
        start, began = 0, time.monotonic()
        waited_before = waited_seconds(self._process)
        with self._file:

            def is_over() -> bool:
                waited = min(waited_seconds(self._process) - waited_before, _WAITING_FACTOR * seconds)
                return time.monotonic() - began - waited > seconds

            while self._has_more(is_over) and (
                length := int.from_bytes(os.read(self._lengths, _LENGTH_BYTES), "little")
            ):
                yield marshal.loads(zlib.decompress(os.pread(self._file.fileno(), length, start)))  # noqa: S302  # our own copy
                start += length
        os.close(self._lengths)
        # The end of a large process with the lowest priority may take seconds.
        os.waitpid(self._process, os.WNOHANG if self.was_stopped else 0)

    def _has_more(self, is_over: Callable[[], bool]) -> bool:
        """Wait for the next value, or for the end of the copy. End the copy when its time is over."""
        while True:
            is_last = is_over()
            if select.select([self._lengths], [], [], 0 if is_last else _LOOK_SECONDS)[0]:
                return True
            if is_last:
                self.was_stopped = True
                os.kill(self._process, signal.SIGKILL)
                return False


def _limit_memory(more_bytes: int) -> None:
    present_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit, greatest = resource.getrlimit(resource.RLIMIT_AS)
    wanted = present_bytes + more_bytes
    if limit == resource.RLIM_INFINITY or limit > wanted:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, greatest))
