"""A temporary copy of the tree with changes in it, to prove how many files one more of something touches."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from itertools import chain
from pathlib import Path

from served import Server

ROOT = Path(__file__).parents[1]
_COPIED = ("explorer", "docs", "tests", "proton_profiles")
_COPIED_FILES = (
    *("README.md", "CONTRIBUTING.md", "Makefile", "Dockerfile", "pyproject.toml", "tritons.txt"),
    *("hatch_build.py", "bundle.mjs", "package.json", "package-lock.json"),
)


class ChangedCopy:
    """A copy of the tree in `folder`. `touched` has the files that each change has written or edited.

    The tests of all changes run once, and one server answers for the copy. Both start when they are needed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: dict[str, set[str]] = {}
        self._tests: dict[str, tuple[str, ...]] = {}
        for name in _COPIED:
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in _COPIED_FILES:
            shutil.copyfile(ROOT / name, folder / name)
        (folder / "node_modules").symlink_to(ROOT / "node_modules")

    def apply(self, change: Callable[[ChangedCopy], None]) -> None:
        """Let `change` write and edit files. Its name is the name of the change."""
        self._change = change.__name__
        self.touched[self._change] = set()
        change(self)

    def tested_by(self, *tests: str) -> None:
        """Name the tests of the present change: IDs of pytest, or their beginnings."""
        self._tests[self._change] = tests

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        assert not file.exists(), f"{path} is there already"
        file.write_text(text, encoding="utf-8")
        self.touched[self._change].add(path)

    def insert(self, path: str, before: str, text: str) -> None:
        """Insert `text` into a file in front of the only occurrence of `before`."""
        self.replace(path, before, text + before)

    def replace(self, path: str, old: str, new: str) -> None:
        """Replace the only occurrence of `old` in a file."""
        file = self.folder / path
        content = file.read_text(encoding="utf-8")
        assert content.count(old) == 1, f"{path} has {old!r} {content.count(old)} times"
        file.write_text(content.replace(old, new), encoding="utf-8")
        self.touched[self._change].add(path)

    def python(self, *arguments: str, **environment: str) -> str:
        """Run Python on the copy; return its standard output."""
        done = self._run(*arguments, **environment)
        assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def ask(self, command: str) -> str:
        """Run a command of the copy, which asks the server; return its standard output."""
        return self.python("-m", "explorer", *command.split(), TRITON_EXPLORER_SERVER=self.server.url)

    def check(self, change: str, *, most_files: int) -> None:
        """Check that a change touches few files, and that its tests pass."""
        assert len(self.touched[change]) <= most_files
        for test in self._tests.get(change, ()):
            outcomes = re.findall(rf"^(PASSED|FAILED|ERROR) {re.escape(test)}", self._test_output, re.M)
            assert set(outcomes) == {"PASSED"}, f"{test}\n{self._test_output}"

    @cached_property
    def server(self) -> Server:
        """A server of the copy, with its page, which is bundled with the npm packages of the tree."""
        self.python("hatch_build.py")
        with contextlib.chdir(self.folder):
            return Server(self.folder / "data", {"PYTHONPATH": str(self.folder)})

    def close(self) -> None:
        """Stop the server if it was started."""
        if "server" in vars(self):
            self.server.close()

    @cached_property
    def _test_output(self) -> str:
        """The output of the tests of all changes, in which a line names the outcome of each test."""
        options = ("-q", "-rfEp", "-p", "no:cacheprovider", "-n", "0", "--continue-on-collection-errors")
        tests = chain.from_iterable(self._tests.values())
        done = self._run("-m", "pytest", *options, "-m", "", *tests)  # with nightly tests
        return done.stdout + done.stderr

    def _run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run Python on the copy, without the variables that make pytest a worker of pytest-xdist."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**inherited, "PYTHONPATH": str(self.folder), **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
