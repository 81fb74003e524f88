"""A temporary copy of the tree with a change in it, to prove how many files one more of something touches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_COPIED = ("explorer", "docs", "tests", "proton_profiles")
_COPIED_FILES = (
    *("README.md", "CONTRIBUTING.md", "Makefile", "Dockerfile", "pyproject.toml", "tritons.txt"),
    *("hatch_build.py", "bundle.mjs", "package.json", "package-lock.json"),
)


class ChangedCopy:
    """A copy of the tree in `folder`. `touched` has the files that were written or edited in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in _COPIED_FILES:
            shutil.copyfile(ROOT / name, folder / name)

    def write(self, path: str, text: str) -> None:
        """Write a new file."""
        file = self.folder / path
        assert not file.exists(), f"{path} is there already"
        file.write_text(text, encoding="utf-8")
        self.touched.add(path)

    def insert(self, path: str, before: str, text: str) -> None:
        """Insert `text` into a file in front of the only occurrence of `before`."""
        self.replace(path, before, text + before)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the only occurrence of `old` in a file."""
        file = self.folder / path
        content = file.read_text(encoding="utf-8")
        assert content.count(old) == 1, f"{path} has {old!r} {content.count(old)} times"
        file.write_text(content.replace(old, new), encoding="utf-8")
        self.touched.add(path)

    def python(self, *arguments: str, timeout_seconds: float = 300) -> str:
        """Run Python on the copy; return its standard output."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**_environment(), "PYTHONPATH": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
        )
        assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def bundle(self) -> None:
        """Bundle the page of the copy, with the npm packages of the tree."""
        (self.folder / "node_modules").symlink_to(ROOT / "node_modules")
        self.python("hatch_build.py")

    def test(self, *tests: str) -> None:
        """Run tests of the copy."""
        self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *tests)


def _environment() -> dict[str, str]:
    """Return the environment without the variables that make pytest a worker of pytest-xdist."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
