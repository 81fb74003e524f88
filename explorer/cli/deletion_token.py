"""The secret of this user for submissions to servers. It deletes the submitted results."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path

from explorer.settings import state_dir

_HEADER = "Deletion-Token"
_RANDOM_BYTES = 24


def ownership() -> dict[str, str]:
    """Return the header that claims submissions for this user; empty if no secret can be stored."""
    token = _token(state_dir())
    return {_HEADER: token} if token else {}


@cache
def _token(folder: Path) -> str:
    """Return the secret, and create it once. Only this user can read it."""
    file = folder / "deletion-token"
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w") as new:
                new.write(os.urandom(_RANDOM_BYTES).hex())
        return file.read_text(encoding="ascii")
    return ""
