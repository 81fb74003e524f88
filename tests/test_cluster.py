"""Test what only shows when an ordinary user starts a cluster, also where the tests run as root."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from cluster.parts import Cluster, MissingProgram, Part

pytestmark = pytest.mark.slow
_START_SECONDS = 120


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A prepared cluster in a folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="triton-explorer-cluster-") as folder:
        Path(folder).chmod(0o755)
        cluster = Cluster(Path(folder))
        try:
            cluster.prepare()
        except MissingProgram as error:
            assert not os.environ.get("CI"), error
            pytest.skip(str(error))
        yield cluster


def started(part: Part, log: Path) -> subprocess.Popen[bytes]:
    """Start a part as an ordinary user."""
    user: dict[str, Any] = {}
    if os.getuid() == 0:
        user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
    environment = {"PATH": os.environ["PATH"], **part.environment}
    with log.open("wb") as output:
        return subprocess.Popen(part.command, env=environment, cwd="/", stdout=output, stderr=output, **user)


def test_an_ordinary_user_can_start_the_broker(cluster: Cluster) -> None:
    parts = {part.name: part for part in cluster.parts}
    folder = cluster.folder / "rabbitmq"
    if os.getuid() == 0:
        for path in (folder, *folder.iterdir()):
            shutil.chown(path, "nobody")
    log = cluster.folder / "log/rabbitmq.log"
    with ExitStack() as running:
        for name in ("epmd", "rabbitmq"):
            process = running.enter_context(started(parts[name], log))
            running.callback(process.kill)
        deadline = time.monotonic() + _START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", cluster.ports["rabbitmq"]), timeout=5).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        pytest.fail(log.read_text())
