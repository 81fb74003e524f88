"""Keeps the parts of a cluster running, with supervisord: a part that ends is started again."""

from __future__ import annotations

import getpass
import json
import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from configparser import RawConfigParser
from pathlib import Path
from types import TracebackType
from typing import Any
from xmlrpc.client import ServerProxy

from supervisor.xmlrpc import SupervisorTransport

from cluster.parts import GROUPS, Cluster, Part

_START_SECONDS = 300
_STOP_SECONDS = 30
_CHECK_SECONDS = 0.2
#: How often supervisord starts a part again that ends within a second.
_TRIES = 10
_LOG_BYTES = 10_000_000


class PartFailed(Exception):
    """A part cannot be started, or does not answer. The message contains the end of its log."""


class Supervisor:
    """Runs the parts of a cluster. The end of its context ends the parts."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._socket = cluster.folder / "supervisor.sock"
        self._configuration = cluster.folder / "supervisord.conf"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def control(self) -> str:
        """The command that shows, stops and starts parts."""
        return f"{_program('supervisorctl')} -c {self._configuration}"

    def __enter__(self) -> Supervisor:
        """Start all parts.

        Raises:
            MissingProgram: a program is not installed.
            PartFailed: supervisord does not start, or runs already.
        """
        if self.states():
            folder = self._cluster.folder
            raise PartFailed(
                f"A cluster runs already with the data in {folder}. End it, or choose another folder."
            )
        self._cluster.prepare()
        self._write_configuration()
        self._process = subprocess.Popen(
            [*_ending_with_parent("TERM"), _program("supervisord"), "-n", "-c", self._configuration],
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process, which ends the parts in order
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all parts, in reverse order."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait()

    def wait(self) -> int:
        """Wait until supervisord ends, and return its exit status."""
        assert self._process is not None
        return self._process.wait()

    def wait_until_it_answers(self) -> None:
        """Wait until the broker, a web server behind the load balancer and a worker answer.

        Raises:
            PartFailed: a part does not start, or does not answer in five minutes.
        """
        deadline = time.monotonic() + _START_SECONDS
        while (silent := self._silent_part()) is not None:
            if self._process is None or self._process.poll() is not None:
                raise PartFailed(f"supervisord has ended:\n{self._end_of_log('supervisord')}")
            for name, state in self.states().items():
                if state == "FATAL":
                    raise PartFailed(f"The part {name} does not start:\n{self._end_of_log(name)}")
            if time.monotonic() > deadline:
                raise PartFailed(f"The part {silent} does not answer:\n{self._end_of_log(silent)}")
            time.sleep(_CHECK_SECONDS)

    def _silent_part(self) -> str | None:
        """Return a part that does not answer yet.

        Without the broker, jobs are done later.
        """
        try:
            socket.create_connection(("127.0.0.1", self._cluster.ports["rabbitmq"]), timeout=5).close()
        except OSError:
            return "rabbitmq"
        try:
            with urllib.request.urlopen(f"{self._cluster.url}/api/v1/tritons", timeout=5) as answer:
                # The versions come from the workers that the web server knows.
                return None if json.load(answer)["versions"] else "worker1"
        except OSError:
            return "web1"

    # --- single parts -------------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Return the state of each part, as supervisord names it; empty before supervisord answers."""
        try:
            return {part["name"]: part["statename"] for part in self._call("getAllProcessInfo")}
        except OSError:
            return {}

    def process_ids(self) -> dict[str, int]:
        """Return the process ID of each part that runs."""
        return {part["name"]: part["pid"] for part in self._call("getAllProcessInfo") if part["pid"]}

    def stop(self, name: str) -> None:
        """Stop a part, and wait until it has ended."""
        self._call("stopProcess", self._full_name(name))

    def start(self, name: str) -> None:
        """Start a part, and wait until it runs."""
        self._call("startProcess", self._full_name(name))

    def _full_name(self, name: str) -> str:
        (group,) = (part.group for part in self._cluster.parts if part.name == name)
        return f"{group}:{name}"

    def _call(self, method: str, *arguments: str) -> Any:
        transport = SupervisorTransport(None, None, f"unix://{self._socket}")
        with ServerProxy("http://127.0.0.1", transport=transport) as server:
            return getattr(server.supervisor, method)(*arguments)

    def _write_configuration(self) -> None:
        parser = RawConfigParser()
        log = self._cluster.folder / "log"
        parser["supervisord"] = {
            "logfile": _escaped(log / "supervisord.log"),
            "pidfile": _escaped(self._cluster.folder / "supervisord.pid"),
            "user": getpass.getuser(),
        }
        parser["unix_http_server"] = {"file": _escaped(self._socket), "chmod": "0700"}
        parser["supervisorctl"] = {"serverurl": f"unix://{_escaped(self._socket)}"}
        parser["rpcinterface:supervisor"] = {
            "supervisor.rpcinterface_factory": "supervisor.rpcinterface:make_main_rpcinterface"
        }
        parts = self._cluster.parts
        for priority, group in enumerate(GROUPS):
            names = [part.name for part in parts if part.group == group]
            parser[f"group:{group}"] = {"programs": ",".join(names), "priority": str(priority)}
        for part in parts:
            parser[f"program:{part.name}"] = _program_section(part, log / f"{part.name}.log")
        with self._configuration.open("w") as file:
            os.fchmod(file.fileno(), 0o600)  # it contains passwords
            parser.write(file)

    def _end_of_log(self, name: str) -> str:
        path = self._cluster.folder / "log" / f"{name}.log"
        return path.read_text(errors="replace")[-2000:] if path.exists() else ""


def _program_section(part: Part, log: Path) -> dict[str, str]:
    command = [*_ending_with_parent(part.stop_signal), *part.command]
    section = {
        "command": _escaped(shlex.join(command)),
        "environment": ",".join(f'{name}="{_escaped(value)}"' for name, value in part.environment.items()),
        "directory": "/",
        "autorestart": "true",
        "startretries": str(_TRIES),
        "stopsignal": part.stop_signal,
        "stopwaitsecs": str(_STOP_SECONDS),
        "killasgroup": "true",
        "redirect_stderr": "true",
        "stdout_logfile": _escaped(log),
        "stdout_logfile_maxbytes": str(_LOG_BYTES),
        "stdout_logfile_backups": "1",
    }
    return section if part.user is None else {**section, "user": part.user}


def _ending_with_parent(signal: str) -> list[str]:
    """Return the beginning of a command that also ends when its parent process was killed."""
    return ["setpriv", "--pdeathsig", signal, "--"]


def _escaped(value: object) -> str:
    """Return a value in which supervisord replaces nothing."""
    return str(value).replace("%", "%%")


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))
