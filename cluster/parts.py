"""The parts of a cluster: the command, the environment and the user of each process.

In: a folder, which keeps the data of all parts from one start to the next. Out: `Part`s for a process
manager. Every part listens on 127.0.0.1 only, and the parts that keep data require a password.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shlex
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

_CONFIGURATION = Path(__file__).with_name("haproxy.cfg")
_LOOPBACK = "127.0.0.1"
_BUCKET = "texts"
#: The account that all parts use at each other.
_ACCOUNT = "triton-explorer"
#: PostgreSQL does not run as root. Debian's package has made this user.
_POSTGRESQL_USER = "postgres"
_POSTGRESQL = "/usr/lib/postgresql/*/bin"
#: Debian's own command refuses ordinary users.
_RABBITMQ = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"


Group = Literal["data", "servers", "front"]
#: The groups of parts in the order in which they start. They end in the reverse order.
GROUPS: tuple[Group, ...] = get_args(Group)


class MissingProgram(Exception):
    """A program is not installed. The message names its Debian package."""


@dataclass(frozen=True)
class Part:
    """A process of the cluster.

    Parts of the same `group` start and end at the same time. `user` is set if the part must not run as root.
    `stop_signal` ends it in an orderly way.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    stop_signal: str = "TERM"
    group: Group = "data"


@dataclass
class Cluster:
    """The parts of a cluster that has its data in a folder and answers on a port.

    `settings` are further environment variables of web servers and workers. `s3_url` may be replaced by the
    address of a proxy.
    """

    folder: Path
    port: int = 8000
    web_servers: int = 2
    workers: int = 3
    settings: Mapping[str, str] = field(default_factory=dict)
    ports: dict[str, int] = field(init=False)
    s3_url: str = field(init=False)

    def __post_init__(self) -> None:
        """Choose a free port for each part but the load balancer."""
        self.ports = free_ports("postgresql", "s3", "epmd", "erlang", "rabbitmq", *self._web_names)
        self.s3_url = f"http://{_LOOPBACK}:{self.ports['s3']}"

    @property
    def url(self) -> str:
        """The address of the load balancer."""
        return f"http://{_LOOPBACK}:{self.port}"

    @property
    def parts(self) -> list[Part]:
        """All parts.

        Raises:
            MissingProgram: a program is not installed.
        """
        workers = [f"worker{number}" for number in range(1, self.workers + 1)]
        parts = [self._postgresql(), self._s3(), self._epmd(), self._rabbitmq()]
        parts += [*map(self._web_server, self._web_names), *map(self._worker, workers), self._load_balancer()]
        return parts

    def prepare(self) -> None:
        """Create what the parts need before their first start.

        Raises:
            MissingProgram: a program is not installed.
            PermissionError: the user of PostgreSQL cannot enter the folder.
        """
        (self.folder / "log").mkdir(parents=True, exist_ok=True)
        (self.folder / "s3" / _BUCKET).mkdir(parents=True, exist_ok=True)
        self._prepare_postgresql(self.folder / "postgresql")
        self._prepare_rabbitmq(self.folder / "rabbitmq")

    # --- parts that keep data -----------------------------------------------------------------------

    def _postgresql(self) -> Part:
        settings = {
            "listen_addresses": _LOOPBACK,
            "port": self.ports["postgresql"],
            "unix_socket_directories": "",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        command = [_program("postgres", "postgresql", _POSTGRESQL), "-D", str(self.folder / "postgresql")]
        # SIGINT closes the connections; SIGTERM would wait for their clients.
        return Part("postgresql", [*command, *options], user=_postgresql_user(), stop_signal="INT")

    def _prepare_postgresql(self, data: Path) -> None:
        if (data / "PG_VERSION").exists():
            return
        data.mkdir(mode=0o700, exist_ok=True)
        account: dict[str, Any] = {}
        if (user := _postgresql_user()) is not None:
            _check_that_others_can_enter(data.parent)
            group = pwd.getpwnam(user).pw_gid
            shutil.chown(data, user, group)
            account = {"user": user, "group": group, "extra_groups": []}
        options = ["--encoding=UTF8", "--locale=C", f"--username={_ACCOUNT}", "--auth=scram-sha-256"]
        initdb = [_program("initdb", "postgresql", _POSTGRESQL), "-D", str(data), *options]
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(self._password)
            file.flush()
            if user is not None:
                shutil.chown(file.name, user)
            command = [*initdb, f"--pwfile={file.name}"]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd="/", **account)

    def _s3(self) -> Part:
        rclone = [
            _program("rclone", "rclone"),
            "serve",
            "s3",
            str(self.folder / "s3"),
            "--config",
            os.devnull,
        ]
        command = shlex.join([*rclone, "--addr", f"{_LOOPBACK}:{self.ports['s3']}"])
        # rclone wants its pairs of keys quoted, which supervisord would remove.
        quoting = f'RCLONE_AUTH_KEY="\\"$PAIR\\"" exec {command}'
        return Part("s3", ["/bin/sh", "-c", quoting], {"PAIR": f"{_ACCOUNT},{self._password}"})

    def _epmd(self) -> Part:
        """Return the port mapper of Erlang. A port mapper that RabbitMQ starts would outlive RabbitMQ."""
        command = [_program("epmd", "rabbitmq-server"), "-address", _LOOPBACK]
        return Part("epmd", [*command, "-port", str(self.ports["epmd"])])

    def _rabbitmq(self) -> Part:
        folder = self.folder / "rabbitmq"
        environment = {
            "ERL_EPMD_ADDRESS": _LOOPBACK,
            "ERL_EPMD_PORT": str(self.ports["epmd"]),
            "HOME": str(folder),  # the folder of Erlang's cookie
            "RABBITMQ_ALLOW_INPUT": "1",  # the script becomes the server
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_DIST_PORT": str(self.ports["erlang"]),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_LOG_BASE": str(folder),  # the log of data migrations
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_NODENAME": f"{_ACCOUNT}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": _LOOPBACK,
            "RABBITMQ_NODE_PORT": str(self.ports["rabbitmq"]),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput -kernel inet_dist_use_interface {127,0,0,1}",
        }
        server = _program("rabbitmq-server", "rabbitmq-server", _RABBITMQ)
        return Part("rabbitmq", [server], environment)

    def _prepare_rabbitmq(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / "plugins").write_text("[].\n")
        lines = [f"default_user = {_ACCOUNT}", f"default_pass = {self._password}", ""]
        (folder / "rabbitmq.conf").write_text("\n".join(lines))

    # --- triton-explorer ----------------------------------------------------------------------------

    def _web_server(self, name: str) -> Part:
        command = self._when_database_answers("serve", "--port", str(self.ports[name]), *self._data_of(name))
        return Part(name, command, self._settings, group="servers")

    def _worker(self, name: str) -> Part:
        return Part(
            name, self._when_database_answers("worker", *self._data_of(name)), self._settings, group="servers"
        )

    def _data_of(self, name: str) -> list[str]:
        return ["--data-dir", str(self.folder / name)]

    def _when_database_answers(self, *arguments: str) -> list[str]:
        """Return a command that waits until PostgreSQL answers and then starts triton-explorer."""
        ready = [_program("pg_isready", "postgresql-client"), "-q", "-h", _LOOPBACK]
        waits = shlex.join([*ready, "-p", str(self.ports["postgresql"])])
        command = shlex.join([sys.executable, "-m", "explorer", *arguments])
        return ["/bin/sh", "-c", f"until {waits}; do sleep 0.2; done; exec {command}"]

    @property
    def _settings(self) -> dict[str, str]:
        """The settings of web servers and workers."""
        database = f"{_ACCOUNT}:{self._password}@{_LOOPBACK}:{self.ports['postgresql']}/postgres"
        broker = f"{_ACCOUNT}:{self._password}@{_LOOPBACK}:{self.ports['rabbitmq']}"
        return {
            "AWS_ACCESS_KEY_ID": _ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": self._password,
            "TRITON_EXPLORER_BLOBS_URL": f"s3://{_BUCKET}/{_BUCKET}?endpoint={self.s3_url}",
            "TRITON_EXPLORER_BROKER_URL": f"amqp://{broker}//",
            "TRITON_EXPLORER_DATABASE_URL": f"postgresql+psycopg://{database}",
            "TRITON_EXPLORER_PROXIES": _LOOPBACK,
            **self.settings,
        }

    def _load_balancer(self) -> Part:
        environment = {"ADDRESS": f"{_LOOPBACK}:{self.port}"}
        environment |= {name.upper(): f"{_LOOPBACK}:{self.ports[name]}" for name in self._web_names}
        command = [_program("haproxy", "haproxy"), "-db", "-f", str(_CONFIGURATION)]
        return Part("load_balancer", command, environment, group="front")

    @property
    def _web_names(self) -> list[str]:
        return [f"web{number}" for number in range(1, self.web_servers + 1)]

    @cached_property
    def _password(self) -> str:
        """The password of all parts. PostgreSQL and RabbitMQ store it at their first start."""
        path = self.folder / "password"
        if not path.exists():
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
                file.write(secrets.token_hex(16))
        return path.read_text()


def free_ports(*names: str) -> dict[str, int]:
    """Return unused ports of 127.0.0.1."""
    bound = {name: socket.create_server((_LOOPBACK, 0)) for name in names}
    try:
        return {name: each.getsockname()[1] for name, each in bound.items()}
    finally:
        for each in bound.values():
            each.close()


def _program(name: str, package: str, pattern: str = "/usr/sbin") -> str:
    """Return the path of a program from this Python environment, the folders of a pattern, or PATH.

    Raises:
        MissingProgram: the program is not installed.
    """
    matching = sorted(Path("/").glob(pattern.removeprefix("/")), reverse=True)
    folders = [Path(sys.executable).parent, *matching, os.environ.get("PATH", os.defpath)]
    found = shutil.which(name, path=os.pathsep.join(map(str, folders)))
    if found is None:
        raise MissingProgram(f"{name} is not installed. Run `tools/install-debian-packages {package}`.")
    return found


def _check_that_others_can_enter(folder: Path) -> None:
    """Check that another user can reach what a folder contains.

    Raises:
        PermissionError: a folder on the way cannot be entered.
    """
    for each in (folder, *folder.parents):
        if not each.stat().st_mode & stat.S_IXOTH:
            raise PermissionError(
                f"The user {_POSTGRESQL_USER}, as whom root starts PostgreSQL, cannot enter {each}. "
                f"Use another folder for the data, or run `chmod o+x {each}`."
            )


def _postgresql_user() -> str | None:
    return _POSTGRESQL_USER if os.getuid() == 0 else None
