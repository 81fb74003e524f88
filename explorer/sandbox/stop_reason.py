"""The line by which the warden tells the web side why it has stopped a job. Standard library only.

User code can forge the line, so the reason is for statistics only.
"""

from __future__ import annotations

from typing import Literal, get_args

StopReason = Literal[
    "canceled",
    "crash",
    "exit",
    "invalid result",
    "killed",
    "memory",
    "processor time",
    "system call",
    "time",
]
_BEGIN = b"stopped "
_REASONS: dict[bytes, StopReason] = {reason.encode(): reason for reason in get_args(StopReason)}


def stop_line(reason: StopReason, cancel_line: bytes) -> bytes:
    """Return a line that event decoders ignore, since it ends like an incomplete line."""
    return _BEGIN + reason.encode() + cancel_line


def read_stop_line(line: bytes) -> StopReason | None:
    """Return the reason in a line without its end, or None if the line is not a stop line."""
    return _REASONS.get(line.removeprefix(_BEGIN)) if line.startswith(_BEGIN) else None
