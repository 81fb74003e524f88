"""Add and remove Triton versions: each has a folder, except the version of the interpreter's environment.

pip installs a version into a hidden folder, which is renamed when it is complete. A running server therefore
never finds an incomplete version.
"""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from explorer.errors import ToolchainError
from explorer.sandbox.versions import installed_versions, version_key

#: The tested versions, newest first.
SUPPORTED = ("3.9.0", "3.8.0", "3.7.1", "3.7.0", "3.6.0")
_OLDEST = Version("3.6")
_NEXT_MAJOR = Version("4.dev0")
#: The disk space for an installation: the wheel, 0.3 GB, and its files, up to 1 GB.
NEEDED_BYTES = 1_300_000_000
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|SSLError"
    r"|Connection(?:Reset|Refused)Error|Max retries exceeded|Connection broken"
)
_OFFERED = re.compile(r"\(from versions: ([^)]*)\)")
_TRY = "import sys; sys.path.insert(0, sys.argv[1]); import triton._C.libtriton"


@dataclass(frozen=True)
class Installed:
    """An installed version. `folder` is None for the version in the interpreter's environment."""

    version: str
    folder: Path | None


def check_version(text: str) -> str:
    """Return the canonical form of a version, such as 3.8.0.

    Raises:
        ToolchainError: the text is no version, or the version is not supported; the message says why.
    """
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ToolchainError(f"{text!r} is not a version. Write for example 3.8.0.") from error
    if version < _OLDEST:
        raise ToolchainError(f"Triton {version} is older than {_OLDEST}, which is needed.")
    if version >= _NEXT_MAJOR:
        raise ToolchainError(f"Triton {version} is too new: triton-explorer reads versions before 4.")
    return str(version)


def add(text: str, tritons_dir: Path) -> Installed:
    """Install a version, unless it is installed. pip prints its progress to the standard error.

    Raises:
        ToolchainError: the version cannot be installed; the message says why.
    """
    version = check_version(text)
    found = installed_versions(tritons_dir)
    if version in found:
        return Installed(version, found[version])
    with _hidden_folder(tritons_dir) as hidden:
        for folder in (tritons_dir, Path(tempfile.gettempdir())):  # pip first unpacks to the temporary folder
            _check_space(folder)
        new = hidden / version
        _install(version, new)
        _try(version, new)
        new.chmod(0o755)  # the user of a jail reads it
        folder = tritons_dir / version
        try:
            new.rename(folder)
        except OSError as error:
            if version not in installed_versions(tritons_dir):  # another process may have added the version
                raise ToolchainError(
                    f"Cannot create {folder}: {error.strerror}. Remove the existing files."
                ) from error
    return Installed(version, folder)


def remove(version: str, tritons_dir: Path) -> Path:
    """Remove a version and return its former folder.

    Raises:
        ToolchainError: the version is not installed, or belongs to the interpreter.
    """
    found = installed_versions(tritons_dir)
    if version not in found:
        raise ToolchainError(f"Triton {version} is not installed. Installed: {', '.join(found) or 'none'}.")
    folder = found[version]
    if folder is None:
        raise ToolchainError(
            f"Triton {version} belongs to the Python environment {sys.prefix} and is needed there."
        )
    with _hidden_folder(folder.parent) as hidden:
        try:
            folder.rename(hidden / version)
        except OSError as error:
            raise ToolchainError(f"Cannot remove {folder}: {error.strerror}.") from error
    return folder


def missing_between(one: str, other: str, tritons_dir: Path) -> list[str]:
    """Return the supported versions between two that are not installed, in order from `one` to `other`."""
    low, high = sorted((version_key(one), version_key(other)))
    installed = installed_versions(tritons_dir)
    between = [each for each in SUPPORTED if low < Version(each) < high and each not in installed]
    return sorted(between, key=version_key, reverse=version_key(one) > version_key(other))


@contextmanager
def _hidden_folder(tritons_dir: Path) -> Iterator[Path]:
    """Create a folder on the same disk, whose name is not a version, and remove it in the end."""
    try:
        tritons_dir.mkdir(parents=True, exist_ok=True)
        hidden = Path(tempfile.mkdtemp(prefix=".", dir=tritons_dir))
    except OSError as error:
        raise ToolchainError(f"Cannot write to {tritons_dir}: {error.strerror}.") from error
    try:
        yield hidden
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _check_space(folder: Path) -> None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < NEEDED_BYTES:
        raise ToolchainError(
            f"The disk of {folder} has {free_bytes / 1e9:.1f} GB free. "
            f"{NEEDED_BYTES / 1e9:.1f} GB are needed."
        )


def _install(version: str, new: Path) -> None:
    """Let pip install a version into a folder.

    Raises:
        ToolchainError: pip failed.
    """
    command = [*_PIP, "install", "--no-deps", "--only-binary", ":all:", "--target", str(new)]
    done = subprocess.run(  # noqa: S603  the version is checked
        [*command, f"triton=={version}"],
        stdout=sys.stderr,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise ToolchainError(_reason(version, done.stderr))


def _reason(version: str, errors: str) -> str:
    """Return why pip failed, from its output."""
    if "No space left on device" in errors:
        return f"Triton {version} was not installed: the disk is full."
    if offered := _OFFERED.search(errors):
        python = f"Python {sys.version_info.major}.{sys.version_info.minor} on {platform.machine()}"
        if offered[1].strip() == "none":
            if _UNREACHABLE.search(errors):
                return f"Triton {version} was not installed: pip does not reach its package index."
            return f"pip finds no Triton for {python}. Check the network and the package index."
        usable = [each for each in offered[1].split(", ") if _OLDEST <= version_key(each) < _NEXT_MAJOR]
        what = "has" if version in SUPPORTED else "does not exist, or has"
        found = ", ".join(usable) or "older ones only"
        return f"Triton {version} {what} no wheel for {python}. pip finds {found}."
    last = [line for line in errors.splitlines() if line.strip()][-3:]
    return f"Triton {version} was not installed. pip says: {' '.join(last) or 'nothing'}"


def _try(version: str, new: Path) -> None:
    """Import the compiler of an installed version.

    Raises:
        ToolchainError: the compiler cannot be imported on this machine.
    """
    done = subprocess.run(  # noqa: S603  what pip has just installed
        [sys.executable, "-I", "-c", _TRY, str(new)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip() or f"it ended with status {done.returncode}").splitlines()[-1]
        raise ToolchainError(f"Triton {version} does not work on this machine: {last}")
