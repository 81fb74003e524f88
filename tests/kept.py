"""Compilations that are kept on disk from one run of the tests to the next."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from tritons import TRITONS

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "build/kept"
#: Files that decide what the compiler makes of a source, and how its events are stored.
_SOURCES = ("explorer/pipeline", "explorer/model", "explorer/examples", "explorer/sandbox/linux.py")
_SUFFIXES = (".c", ".py", ".toml")


def kept_folder(name: str, *sources: str) -> Path:
    """Return a folder for files that depend on `sources`, the pipeline, the model and the Triton versions.

    It is empty when one of them has changed, and older folders of this name are then removed.
    """
    digest = hashlib.sha256("\n".join(TRITONS).encode())
    for source in (*_SOURCES, *sources):
        path = ROOT / source
        files = (each for each in path.rglob("*") if each.suffix in _SUFFIXES) if path.is_dir() else [path]
        for file in sorted(files):
            digest.update(f"{file.relative_to(ROOT)}\n".encode() + file.read_bytes())
    folder = KEPT / f"{name}-{digest.hexdigest()[:16]}"
    for older in KEPT.glob(f"{name}-*"):
        if older != folder:
            shutil.rmtree(older, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
