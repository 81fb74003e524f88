"""How a zygote's process is started: its command line, its environment, and what it may see.

Three ways, tried in this order: bubblewrap as root (the zygote then drops to nobody; it can read an
interpreter in a folder that only root may enter), bubblewrap as an unprivileged user, and, where the
operator insists, no jail.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import explorer
from explorer.sandbox.settings import SandboxSettings

NOBODY = 65534
_JAIL_TMP_BYTES = 256 * 1024 * 1024

Way = Literal["root", "nobody", "user", "unsafe"]


@dataclass(frozen=True)
class Launch:
    """How to start zygotes on this machine. `bubblewrap` is None without a jail."""

    way: Way
    bubblewrap: Path | None
    settings: SandboxSettings

    @property
    def title(self) -> str:
        """What this way is called in messages."""
        return "without a jail" if self.bubblewrap is None else f"bubblewrap as {self.way}"

    def start(
        self, control: int, errors: IO[bytes], triton: Path | None, entry_point: str
    ) -> subprocess.Popen[bytes]:
        """Start a zygote that listens on the descriptor `control`.

        bubblewrap dies with the thread that has called this.
        """
        options = {
            "entry_point": entry_point,
            "jailed": self.bubblewrap is not None,
            "kept_folders": [
                str(folder)
                for folder in self.readable_folders(triton)
                if folder.is_relative_to("/tmp")  # noqa: S108
            ],
            "limits": dataclasses.asdict(self.settings.limits),
        }
        zygote = [sys.executable, "-m", "explorer.sandbox.zygote", str(control), json.dumps(options)]
        environment = self._environment(triton)
        command = [*self._jail(triton, environment), *zygote] if self.bubblewrap else zygote
        drop = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if self.way == "nobody" else {}
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

    def _environment(self, triton: Path | None) -> dict[str, str]:
        """Nothing of the web side's environment; libraries that would start threads are told not to."""
        path = [] if triton is None else [triton]
        path += [Path(explorer.__file__).parent.parent, *self.settings.python_path]
        one_thread = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/tmp",  # noqa: S108
            "TMPDIR": "/tmp",  # noqa: S108
            "LANG": "C.UTF-8",
            "USER": "nobody",
            "LOGNAME": "nobody",
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            # The same request gives the same result, whichever zygote does it.
            "PYTHONHASHSEED": "0",
            **dict.fromkeys(one_thread, "1"),
            **self.settings.environment,
        }

    def _jail(self, triton: Path | None, environment: dict[str, str]) -> list[str]:
        command = [str(self.bubblewrap), "--die-with-parent", "--new-session", "--hostname", "sandbox"]
        command += [
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        command += ["--cap-drop", "ALL"]
        if self.way == "root":
            command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            command += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
        command += _system_folders()
        command += ["--size", str(_JAIL_TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
        command += ["--proc", "/proc", "--dev", "/dev"]
        for device in self.settings.devices:
            command += ["--dev-bind", str(device), str(device)]
        command += ["--remount-ro", "/dev"]
        folders = self.readable_folders(triton)
        made = {Path("/tmp")}  # noqa: S108
        # bubblewrap would make the folders on the way for their owner alone.
        for parent in sorted({parent for folder in folders for parent in folder.parents[:-1]} - made):
            command += ["--perms", "0755", "--dir", str(parent)]
        for folder in folders:
            command += ["--ro-bind", str(folder), str(folder)]
        command += ["--chdir", "/"]
        command += ["--clearenv"]
        for name, value in environment.items():
            command += ["--setenv", name, value]
        return [*command, "--"]

    def readable_folders(self, triton: Path | None) -> list[Path]:
        """The interpreter, its packages, ours, one Triton: as named and as resolved, none inside another."""
        wanted = [Path(sys.base_prefix), Path(sys.prefix), Path(explorer.__file__).parent]
        wanted += [Path(sys.executable).resolve().parent.parent, *self.settings.python_path]
        wanted += [folder for folder in self.settings.readable_folders if folder.is_dir()]
        if triton is not None:
            wanted.append(triton)
        outer = [Path("/usr")]
        named_and_resolved = {path for folder in wanted for path in (folder.absolute(), folder.resolve())}
        for folder in sorted(named_and_resolved):
            if not any(folder.is_relative_to(other) for other in outer):
                outer.append(folder)
        return outer[1:]


def find_bubblewrap(settings: SandboxSettings) -> Path | None:
    """Find bubblewrap: the one asked for, the system's, or that of a package, beside the interpreter or in
    the folder that packages were installed into (pip's --target).
    """
    if settings.bubblewrap is not None:
        return settings.bubblewrap if settings.bubblewrap.is_file() else None
    folders = [sys.prefix, *sys.path]
    beside = next((path for folder in folders if (path := Path(folder) / "bin/bwrap").is_file()), None)
    found = shutil.which("bwrap") or beside
    return None if found is None else Path(found).absolute()


def ways(settings: SandboxSettings) -> list[Launch]:
    """The ways worth trying here, the best first."""
    if settings.unsafe:
        return [Launch("unsafe", None, settings)]
    bubblewrap = find_bubblewrap(settings)
    if bubblewrap is None:
        return []
    names: tuple[Way, ...] = ("root", "nobody") if os.getuid() == 0 else ("user",)
    return [Launch(way, bubblewrap, settings) for way in names]


def _system_folders() -> list[str]:
    """/usr and what links there; on a system without merged /usr, the folders themselves."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        path = Path("/") / name
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return [*arguments, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
