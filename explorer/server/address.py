"""The address of a running server, in a file of its data folder: commands find the server by it."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

_NAME = "server.json"


def write_address(folder: Path, url: str) -> None:
    """Write the address of this process's server, replacing the address of another server of the folder."""
    path = folder / f"{_NAME}.{os.getpid()}"
    path.write_text(json.dumps({"url": url, "process": os.getpid()}) + "\n", encoding="utf-8")
    path.replace(folder / _NAME)


def remove_address(folder: Path) -> None:
    """Remove the address, unless another server has replaced it."""
    if _read(folder).get("process") == os.getpid():
        with contextlib.suppress(OSError):
            (folder / _NAME).unlink()


def running_server(folder: Path) -> str:
    """Return the address of the server that serves a folder; "" if no server has written it.

    A killed server leaves its file, so the address may have no listener.
    """
    return str(_read(folder).get("url", ""))


def _read(folder: Path) -> dict[str, object]:
    try:
        found = json.loads((folder / _NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
