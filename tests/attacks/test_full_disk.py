"""A disk that is full, read-only or away, and a locked database: the server says so, and loses nothing.

The disks are real: file systems that a script mounts in a namespace of its own.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from explorer import create_app
from explorer.errors import StoreError, StoreFull, StoreLocked
from explorer.model import Done, Request, Resources
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store import Quotas, open_store

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests/store/version_1/data.zip"
COMPILATION = "Z2CFaWgV3tfs"
STAGE = f"/api/v1/compilations/{COMPILATION}/stages/ttgir"

#: The common part of the scripts below. They print the answers to a client as lines of JSON.
PRELUDE = """
import json, os, subprocess, sys, time
from contextlib import closing
from pathlib import Path

from served import Server

FOLDER = Path(sys.argv[1])
FREE = FOLDER / "free"

def mount(*arguments):
    subprocess.run(["mount", *arguments, str(FOLDER)], check=True)

def fill():
    with FREE.open("ab", buffering=0) as file:
        try:
            for size in (1 << 16, 1 << 12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass
        finally:
            file.close()

def ask(server, path, body=None):
    answer = server.client().ask("GET" if body is None else "POST", path, body)
    document = answer.document if "json" in answer.headers["Content-Type"] else None
    print(json.dumps({"path": path, "status": answer.status, "document": document}), flush=True)

def ask_everything(server):
    ask(server, "/k/Z2CFaWgV3tfs")
    ask(server, "/api/v1/compilations/Z2CFaWgV3tfs")
    ask(server, "/api/v1/compilations/Z2CFaWgV3tfs/stages/ttgir")
    ask(server, "/api/v1/runs/JLrEL7iQ3EhF")
    ask(server, "/api/v1/compilations/Z2CFaWgV3tfs/graph?stage=ttir")
    ask(server, "/api/v1/compilations", {"source": "# " + os.urandom(50_000).hex(), "target": "cuda:90"})
    ask(server, "/healthz")
"""
STORED_ANSWERS = 4


@pytest.fixture(scope="module")
def namespace(tmp_path_factory):
    """Return a function that runs a script in namespaces where it may mount file systems."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed")
    probe = ["mount", "-t", "tmpfs", "tmpfs", str(tmp_path_factory.mktemp("probe"))]
    inside = [unshare, "--map-root-user", "--mount"]
    if (refused := subprocess.run([*inside, *probe], capture_output=True, text=True, check=False)).returncode:
        pytest.skip(f"this machine does not let users mount a file system: {refused.stderr.strip()}")

    def run(script, folder, **variables):
        done = subprocess.run(
            [*inside, sys.executable, "-c", PRELUDE + script, str(folder), str(STORED)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", **variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


def check_what_is_stored(answers):
    """Check that everything that was stored is answered, with its texts."""
    assert [answer["status"] for answer in answers[:STORED_ANSWERS]] == [200] * STORED_ANSWERS
    assert answers[1]["document"]["status"] == "complete"
    assert answers[3]["document"]["status"] == "complete"


def test_a_server_starts_on_a_full_disk_and_serves_what_it_has(namespace, tmp_path):
    script = """
import zipfile
mount("-t", "tmpfs", "-o", "size=4m", "tmpfs")
with zipfile.ZipFile(sys.argv[2]) as archive:
    archive.extractall(FOLDER)
fill()
with closing(Server(FOLDER)) as server:
    ask_everything(server)
    FREE.unlink()
    ask(server, "/api/v1/compilations", {"source": "x = 1", "target": "cuda:90"})
    while server.client().ask("GET", "/healthz").document["store"]["problem"]:
        time.sleep(0.1)
    ask(server, "/healthz")
"""
    answers = namespace(script, tmp_path, TRITON_EXPLORER_FREE_DISK_BYTES="1")
    check_what_is_stored(answers)
    graph, submission, health, later, healthy = answers[STORED_ANSWERS:]
    assert graph["status"] == 200  # computed, and not stored
    assert submission["status"] == 507
    assert submission["document"]["kind"] == "store_full"
    assert "Free space on the disk" in submission["document"]["detail"]
    assert health["status"] == 503
    assert health["document"]["store"]["free_bytes"] == 0
    assert "No space left on device" in health["document"]["store"]["problem"]
    assert later["status"] == 202
    assert healthy["document"]["store"]["problem"] is None


def test_a_disk_that_fills_up_is_reported(namespace, tmp_path):
    """The server does not know how much space it needs: SQLite and the blobs meet the end of the disk."""
    script = """
import zipfile
mount("-t", "tmpfs", "-o", "size=4m", "tmpfs")
with zipfile.ZipFile(sys.argv[2]) as archive:
    archive.extractall(FOLDER)
with closing(Server(FOLDER)) as server:
    ask(server, "/api/v1/compilations", {"source": "x = 1", "target": "cuda:90"})
    fill()
    ask_everything(server)
    FREE.unlink()
    ask(server, "/api/v1/compilations", {"source": "x = 3", "target": "cuda:90"})
"""
    first, *answers, later = namespace(script, tmp_path, TRITON_EXPLORER_FREE_DISK_BYTES="0")
    assert first["status"] == 202
    check_what_is_stored(answers)
    submission, health = answers[-2:]
    assert (submission["status"], submission["document"]["kind"]) == (507, "store_full")
    assert health["status"] == 503
    assert later["status"] == 202


def test_a_read_only_folder_is_served(namespace, tmp_path):
    script = """
import zipfile
mount("-t", "tmpfs", "-o", "size=4m", "tmpfs")
with zipfile.ZipFile(sys.argv[2]) as archive:
    archive.extractall(FOLDER)
(FOLDER / "blobs/incoming").mkdir()
mount("-o", "remount,ro")
with closing(Server(FOLDER)) as server:
    ask_everything(server)
"""
    answers = namespace(script, tmp_path, TRITON_EXPLORER_FREE_DISK_BYTES="0")
    check_what_is_stored(answers)
    submission, health = answers[-2:]
    assert (submission["status"], submission["document"]["kind"]) == (503, "store_error")
    assert "data folder" in submission["document"]["detail"]
    assert health["status"] == 503
    assert "Read-only" in health["document"]["store"]["problem"]


def test_a_full_disk_is_told_from_other_failures(namespace, tmp_path):
    script = """
from explorer.errors import StoreFull
from explorer.store import open_store
from explorer.model import Request, Resources
mount("-t", "tmpfs", "-o", "size=1m", "tmpfs")
store = open_store(FOLDER)
fill()
batch = store.batch()
batch.add(os.urandom(10_000))
for fails in (batch.commit, lambda: store.submit(Request("a" * 100_000, "cuda:90", "3.9.0"))):
    try:
        fails()
    except StoreFull as error:
        print(json.dumps(error.detail))
batch.discard()
print(json.dumps([path.name for path in (FOLDER / "blobs/incoming").iterdir()]))
"""
    written, submitted, abandoned = namespace(script, tmp_path)
    assert "No space left on device" in written
    assert "full" in submitted
    assert abandoned == []


#: Another process that holds the lock of an SQLite database until its input ends.
LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
connection.execute("ROLLBACK")
"""


class Lock:
    """The lock of a database, held by another process."""

    def __init__(self, folder):
        command = [sys.executable, "-c", LOCKER, str(folder / "explorer.sqlite")]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "locked\n"

    def release(self):
        self._process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self.release()


@pytest.fixture
def locked_app(tmp_path):
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path)
    app = create_app(Settings(data_dir=tmp_path, slots=1))
    yield app
    services_of(app).close()


def test_a_locked_database_loses_no_result(locked_app, tmp_path, vector_add):
    client = locked_app.test_client()
    body = {"source": f"{vector_add}# changed\n", "target": "cuda:90"}
    ticket = client.post("/api/v1/compilations", json=body).get_json()
    queue = services_of(locked_app).queue
    with Lock(tmp_path) as lock:
        entries = []
        for entry in queue.follow(ticket["id"]):
            entries.append(entry)
            if isinstance(entry, Resources):  # one attempt to store the result takes five seconds
                timer = threading.Timer(8, lock.release)
                timer.start()
        timer.join()
    assert isinstance(entries[-1], Done)
    with closing(sqlite3.connect(tmp_path / "explorer.sqlite")) as connection:
        query = "SELECT status, is_final FROM compilation WHERE id = ?"
        assert connection.execute(query, [ticket["id"]]).fetchone() == ("complete", 1)
    assert client.get(f"{ticket['api']}/stages/sass").status_code == 200


def test_a_locked_database_is_named_and_read(locked_app, tmp_path):
    client = locked_app.test_client()
    with Lock(tmp_path):
        refused = client.post("/api/v1/compilations", json={"source": "x = 1", "target": "cuda:90"})
        assert (refused.status_code, refused.get_json()["kind"]) == (503, "store_locked")
        assert "Another process has locked the database" in refused.get_json()["detail"]
        assert refused.headers["Retry-After"]
        assert client.get(STAGE).status_code == 200
        health = client.get("/healthz")
        assert health.status_code == 503
        assert "locked" in health.get_json()["store"]["problem"]
    accepted = client.post("/api/v1/compilations", json={"source": "x = 1", "target": "cuda:90"})
    assert accepted.status_code == 202


def test_a_folder_that_is_away_is_named(locked_app, tmp_path):
    client = locked_app.test_client()
    (tmp_path / "blobs").rename(tmp_path / "away")
    for path in (STAGE, "/healthz"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "folder" in answer.get_data(as_text=True)
    refused = client.post("/api/v1/compilations", json={"source": "x = 1", "target": "cuda:90"})
    assert (refused.status_code, refused.get_json()["kind"]) == (503, "store_error")
    (tmp_path / "away").rename(tmp_path / "blobs")
    assert client.get(STAGE).status_code == 200


def test_space_is_left_on_the_disk(tmp_path):
    free = shutil.disk_usage(tmp_path).free
    with closing(open_store(tmp_path, quotas=Quotas(free_bytes=2 * free))) as store:
        with pytest.raises(StoreFull, match="kept free"):
            store.admit()
        assert "kept free" in store.health().problem


def test_a_database_that_is_locked_at_the_start_is_named(tmp_path):
    with closing(open_store(tmp_path)) as store:
        store.submit(Request("x = 1", "cuda:90", "3.9.0"))
    with closing(sqlite3.connect(tmp_path / "explorer.sqlite", isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLocked, match="Another process"):
            open_store(tmp_path)


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "data").write_text("a file")
    with pytest.raises(StoreError, match="Cannot create the folder"):
        open_store(tmp_path / "data")
