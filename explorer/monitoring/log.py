"""The log of a server: text for a terminal, or one JSON object in each line. Its volume is bounded.

A line has the time, the level, the logger, the message, and the IDs of the request and of the job. Each line
of code may write a number of messages in a minute. At its end, one line reports the number of omitted
messages.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

import msgspec

from explorer.monitoring.work_context import WorkContext, current_work_context, working_for

#: The messages of a line of code in a minute: the number of warnings and errors, and of other messages.
_MOST_WARNINGS = 20
_MOST_OTHERS = 1200
_WINDOW_SECONDS = 60.0
_LONGEST_MESSAGE = 4000
_LONGEST_TRACEBACK = 16_000

#: The line of code that writes a message.
_Place = tuple[str, int]


def configure_log(log_format: str, level: str) -> None:
    """Write the log of this process to its standard error, as "text" or "json"."""
    handler = BoundedHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("sqlalchemy").setLevel(logging.WARNING)  # at "info" it writes each statement


class JsonFormatter(logging.Formatter):
    """Formats a record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time_of(record).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message_of(record),
            **_ids(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)[-_LONGEST_TRACEBACK:]
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextFormatter(logging.Formatter):
    """Formats a record for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and the lines of a traceback."""
        ids = ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in _ids().items())
        line = f"{_time_of(record):%H:%M:%S} {record.levelname.lower()}: {_message_of(record)}"
        line += f" ({ids})" if ids else ""
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)[-_LONGEST_TRACEBACK:]
        return line


@dataclass
class _Count:
    """The messages of one line of code in the present window, and the first message without its arguments."""

    name: str
    level: int
    text: str
    most: int
    messages: int = 0


class BoundedHandler(logging.StreamHandler[TextIO]):
    """Writes a number of records for each line of code in each window, then the number of omitted records."""

    def __init__(
        self, stream: TextIO, most_warnings: int = _MOST_WARNINGS, window_seconds: float = _WINDOW_SECONDS
    ) -> None:
        super().__init__(stream)
        self._most_warnings = most_warnings
        self._window_seconds = window_seconds
        self._window_end = 0.0
        self._counts: dict[_Place, _Count] = {}
        self._timer: threading.Timer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, unless its line of code is over the limit. The caller holds the handler's lock."""
        if time.monotonic() >= self._window_end:
            self._summarize()
            self._window_end = time.monotonic() + self._window_seconds
        count = self._counts.get((record.pathname, record.lineno))
        if count is None:
            most = self._most_warnings if record.levelno >= logging.WARNING else _MOST_OTHERS
            count = _Count(record.name, record.levelno, str(record.msg)[:_LONGEST_MESSAGE], most)
            self._counts[record.pathname, record.lineno] = count
        count.messages += 1
        if count.messages <= count.most:
            super().emit(record)
        elif self._timer is None:
            self._timer = threading.Timer(self._window_end - time.monotonic(), self._end_window)
            self._timer.daemon = True
            self._timer.start()

    def close(self) -> None:
        """Write the numbers of omitted messages."""
        self._end_window()
        super().close()

    def _end_window(self) -> None:
        self.acquire()
        try:
            self._summarize()
        finally:
            self.release()

    def _summarize(self) -> None:
        """Write the number of omissions of each message, and reset the counts."""
        counts, self._counts = self._counts, {}
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for count in counts.values():
            if (omitted := count.messages - count.most) > 0:
                text = f"{omitted:,} more messages in {self._window_seconds:g} seconds: {count.text}"
                with working_for(WorkContext()):
                    super().emit(logging.LogRecord(count.name, count.level, "", 0, text, None, None))


def _ids() -> dict[str, str]:
    context = current_work_context()
    ids = {"request_id": context.request_id, "job_id": context.job_id}
    return {name: value for name, value in ids.items() if value}


def _time_of(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _message_of(record: logging.LogRecord) -> str:
    message, half = record.getMessage(), _LONGEST_MESSAGE // 2  # the last line says what to do
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"
