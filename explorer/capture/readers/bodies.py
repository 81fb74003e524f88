"""The data that is sent for a kernel: the request that shows it, and its entry in the session."""

from __future__ import annotations

from typing import Any

from explorer.capture.read import CapturedKernel, WrittenKernel
from explorer.model import to_plain


def request_of(kernel: CapturedKernel | WrittenKernel, *, is_compiled: bool) -> tuple[str, dict[str, Any]]:
    """Return the address relative to the API, and the body. `is_compiled`: compile a capture here, too."""
    if isinstance(kernel, WrittenKernel):
        return "compilations", {"source": kernel.source, "target": kernel.target, "kernel": kernel.name}
    return "captures", {
        **to_plain(kernel.captured),
        "source": kernel.file.script,
        "target": kernel.file.target.name,
        "files": kernel.files,
        "again": is_compiled and kernel.has_launch,
    }


def counts_of(kernel: CapturedKernel | WrittenKernel) -> dict[str, Any]:
    """Return the session's data about a kernel, without its compilations."""
    if isinstance(kernel, WrittenKernel):
        return {"launches": None, "milliseconds": None}
    times = kernel.captured.milliseconds
    total = round(sum(times.values()), 3) if times else None
    return {"launches": kernel.launches, "milliseconds": total}
