"""The message brokers of the distributed form: a RabbitMQ and a Redis that the tests start."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from served import end_with_parent

_START_SECONDS = 180
#: They are made when RabbitMQ starts: its own command takes seconds for each.
_VIRTUAL_HOSTS = 64


class _Broker:
    """A server of Debian on free ports of the loopback network, with its data in a temporary folder."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._folder = Path(tempfile.mkdtemp(prefix=f"triton-explorer-{program.name}-"))
        self._process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Stop the server. It keeps messages."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_START_SECONDS)
            self._process = None

    def _start(
        self, arguments: Sequence[str], environment: Mapping[str, str], answers: Callable[[], bool]
    ) -> None:
        log = self._folder / "server.log"
        self._process = _start([str(self._program), *arguments], environment, log)
        _wait_until(answers, self._process, log)


class RabbitMq(_Broker):
    """RabbitMQ."""

    def __init__(self, program: Path) -> None:
        super().__init__(program)
        self._port, epmd_port, distribution_port = free_ports(3)
        self.url = f"amqp://guest:guest@127.0.0.1:{self._port}//"
        self._virtual_hosts = [f"host-{number}" for number in range(_VIRTUAL_HOSTS)]
        (self._folder / "plugins").write_text("[].\n")
        definitions = self._folder / "definitions.json"
        definitions.write_text(json.dumps(_definitions(["/", *self._virtual_hosts])))
        (self._folder / "rabbitmq.conf").write_text(f"load_definitions = {definitions}\n")
        self._environment = {
            **os.environ,
            "HOME": str(self._folder),  # of the Erlang cookie
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(epmd_port),
            "RABBITMQ_ALLOW_INPUT": "1",  # the script becomes the server, which ends with the test process
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_CONFIG_FILE": str(self._folder / "rabbitmq.conf"),
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self._folder / "plugins"),
            "RABBITMQ_LOG_BASE": str(self._folder / "log"),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "mnesia"),
            "RABBITMQ_NODENAME": f"test-{os.getpid()}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput -kernel inet_dist_use_interface {127,0,0,1}",
        }
        # The server would start a process that outlives it.
        self._epmd = _start(["epmd"], self._environment, self._folder / "epmd.log")
        self.start()

    def new_virtual_host(self) -> str:
        """Return the URL of a virtual host that nobody has used."""
        return f"amqp://guest:guest@127.0.0.1:{self._port}/{self._virtual_hosts.pop()}"

    def start(self) -> None:
        """Start the server, with the messages that it had."""
        self._start((), self._environment, self._answers)

    def close(self) -> None:
        """Stop the server, and remove its data."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._epmd.kill()
        self._epmd.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        """Return whether the server greets a client: the port is open before that."""
        with socket.create_connection(("127.0.0.1", self._port), timeout=5) as client:
            client.sendall(b"AMQP\x00\x00\x09\x01")
            return bool(client.recv(1))


class Redis(_Broker):
    """Redis."""

    def __init__(self, program: Path) -> None:
        super().__init__(program)
        (self._port,) = free_ports(1)
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self.start()

    def start(self) -> None:
        """Start the server, with the messages that it had."""
        options = ["--bind", "127.0.0.1", "--port", str(self._port), "--dir", str(self._folder)]
        self._start([*options, "--appendonly", "yes"], os.environ, self._answers)

    def stall(self) -> None:
        """Let it answer nothing, but keep its connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it answer again, also after it was stopped."""
        if self._process is None:
            self.start()
        else:
            self._process.send_signal(signal.SIGCONT)

    def clear(self) -> None:
        assert self._answer(b"FLUSHALL") == b"+OK"

    def close(self) -> None:
        """Stop the server, and remove its data."""
        self.resume()
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        return self._answer(b"PING") == b"+PONG"

    def _answer(self, command: bytes) -> bytes:
        with socket.create_connection(("127.0.0.1", self._port), timeout=5) as client:
            client.sendall(command + b"\r\n")
            return client.recv(64).strip()


Broker = RabbitMq | Redis


def free_ports(count: int) -> list[int]:
    """Return ports of 127.0.0.1 that nobody uses."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _definitions(virtual_hosts: Sequence[str]) -> dict[str, object]:
    """Return what RabbitMQ makes when it starts: virtual hosts, and a user who may do everything there."""
    everything = dict.fromkeys(("configure", "write", "read"), ".*")
    return {
        "users": [{"name": "guest", "password": "guest", "tags": "administrator"}],
        "vhosts": [{"name": name} for name in virtual_hosts],
        "permissions": [{"user": "guest", "vhost": name, **everything} for name in virtual_hosts],
    }


def _start(command: list[str], environment: Mapping[str, str], log: Path) -> subprocess.Popen[bytes]:
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            preexec_fn=end_with_parent,
        )


def _wait_until(answers: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        assert process.poll() is None, f"The broker did not start:\n{log.read_text()}"
        assert time.monotonic() < deadline, f"The broker did not answer:\n{log.read_text()}"
        try:
            if answers():
                return
        except OSError:
            time.sleep(0.05)


def _found(pattern: str, package: str) -> Path:
    """Return the program of a Debian package. Without it, the test is skipped."""
    found = sorted(Path("/").glob(pattern))
    if not found:
        reason = f"{package} is not installed: tools/install-debian-packages {package}"
        assert not os.environ.get("CI"), reason
        pytest.skip(reason)
    return found[-1]


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMq]:
    """A RabbitMQ for the tests of this process. A test that stops it starts it again."""
    # Debian's own command may be used by root and by the user of its service only.
    server = RabbitMq(
        _found("usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server", "rabbitmq-server")
    )
    yield server
    server.close()


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis for the tests of this process. A test that stops it starts it again."""
    server = Redis(_found("usr/bin/redis-server", "redis-server"))
    yield server
    server.close()


@pytest.fixture(scope="session", params=["rabbitmq", "redis"])
def broker(request: pytest.FixtureRequest) -> Broker:
    found: Broker = request.getfixturevalue(request.param)
    return found
