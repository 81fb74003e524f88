"""Starts a capture when the program imports Triton."""

from __future__ import annotations

from explorer.capture.folder import DEFAULT_LIMIT_BYTES
from explorer.capture.session import start
from explorer.capture.watch import when_imported


def capture_when_imported(folder: str, target: str = "", limit_bytes: str = "") -> None:
    """Start a capture as soon as the program has imported Triton.

    With `target`, the program sees a fake GPU of it as soon as it has imported PyTorch.
    """
    limit = int(limit_bytes or DEFAULT_LIMIT_BYTES)
    if not target:
        when_imported("triton", lambda: start(folder, limit_bytes=limit))
        return

    def start_without_gpu() -> None:
        from explorer.capture.without_gpu import use_fake_gpu

        use_fake_gpu(target, start(folder, limit_bytes=limit))

    when_imported("torch", start_without_gpu)
