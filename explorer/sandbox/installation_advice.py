"""Instructions for an operator if no jail can be built: the command for this machine, and alternatives."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

#: The package with bubblewrap's binary, with the hash of its file.
REQUIREMENTS = Path(__file__).with_name("bubblewrap-requirements.txt")

_PACKAGE_MANAGERS = ("apt-get", "dnf", "zypper")
#: A kernel setting that disables user namespaces, its disabling value, and its enabling value.
_SWITCHES = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("user.max_user_namespaces", "0", "15000"),
)
_IN_CONTAINER = (Path("/.dockerenv"), Path("/run/.containerenv"))
_CONTAINER_OPTIONS = "--security-opt seccomp=docker/seccomp.json --security-opt systempaths=unconfined"


def installation_advice(has_bubblewrap: bool) -> str:
    """List the alternatives. The last line has the command for this machine."""
    return f"""\
User code is not executed until you do one of the following:
- Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; without root: {_pip_command()}).
- Allow user namespaces. Ubuntu 24.04 and newer: sysctl kernel.apparmor_restrict_unprivileged_userns=0;
  older Debian: sysctl kernel.unprivileged_userns_clone=1.
- In a container: start it with {_CONTAINER_OPTIONS}.
- For sources that you trust only, on your own machine: --unsafe-no-sandbox.
Code cannot run on this machine. Run this, then start the server again: {_command(has_bubblewrap)}"""


def _command(has_bubblewrap: bool) -> str:
    if not has_bubblewrap:
        return _installation()
    administrator = "" if os.getuid() == 0 else "sudo "
    for name, closed, opened in _SWITCHES:
        file = Path("/proc/sys") / name.replace(".", "/")
        if file.is_file() and file.read_text().strip() == closed:
            return f"{administrator}sysctl -w {name}={opened}"
    if any(path.exists() for path in _IN_CONTAINER):
        return f"docker run {_CONTAINER_OPTIONS} … (the image and its options as before)"
    return "triton-explorer serve --unsafe-no-sandbox (for sources that you trust only)"


def _installation() -> str:
    """Return the command that installs the system's package, or, without root, the Python package."""
    is_root = os.getuid() == 0
    if is_root or shutil.which("sudo"):
        for manager in _PACKAGE_MANAGERS:
            if shutil.which(manager):
                return f"{'' if is_root else 'sudo '}{manager} install bubblewrap"
    return _pip_command()


def _pip_command() -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", "--require-hashes", "-r", str(REQUIREMENTS)])
