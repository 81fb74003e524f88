"""A bounded buffer for the output of the user's code."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

#: Further characters are dropped.
LARGEST_OUTPUT = 1 << 16


class Output(io.StringIO):
    """A text stream of bounded size."""

    def write(self, text: str) -> int:
        room = LARGEST_OUTPUT - self.tell()
        if room > 0:
            super().write(text[:room])
        return len(text)

    @contextlib.contextmanager
    def capture(self) -> Iterator[None]:
        """Redirect standard output and standard error to this stream."""
        with contextlib.redirect_stdout(self), contextlib.redirect_stderr(self):
            yield
