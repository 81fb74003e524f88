"""Keeps what the user's code prints, up to a limit."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

#: More characters than this are dropped.
LARGEST_OUTPUT = 1 << 16


class Output(io.StringIO):
    """A text stream that a program may write to for ever."""

    def write(self, text: str) -> int:
        room = LARGEST_OUTPUT - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)

    @contextlib.contextmanager
    def captured(self) -> Iterator[None]:
        """Take what is printed on standard output and standard error."""
        with contextlib.redirect_stdout(self), contextlib.redirect_stderr(self):
            yield
