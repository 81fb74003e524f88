"""Test who may run kernels on the GPUs of a server that other machines can reach."""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import VECTOR_ADD
from recorded_gpu import TARGET
from served import ROOT, Server

from explorer.errors import SettingsError
from explorer.services import gpu_rules_of
from explorer.settings import Settings

PROXY = "127.0.0.1"
PYTHONPATH = os.pathsep.join([str(ROOT), str(ROOT / "tests")])


def post(server: Server, path: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
    """Send a document and return the status and the document of the answer."""
    request = urllib.request.Request(
        server.url + path, json.dumps(body).encode(), {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def run_on_gpu(server: Server, compilation: str, attempt: int, client: str) -> tuple[int, dict[str, Any]]:
    """Run a compilation for a client behind the proxy, and wait for the end."""
    run = {"device": "gpu", "measures": ["time"], "attempt": attempt}
    status, ticket = post(
        server, "/api/v1/runs", {"compilation": compilation, "run": run}, **{"X-Forwarded-For": client}
    )
    if status == 202:
        with urllib.request.urlopen(server.url + ticket["events"]) as events:
            events.read()
    return status, ticket


@pytest.fixture
def served(tmp_path) -> Iterator[Any]:
    servers = []

    def start(**settings: Any) -> tuple[Server, str]:
        server = Server(
            tmp_path,
            program=("recorded_gpu",),
            environment={"PYTHONPATH": PYTHONPATH},
            **settings,
        )
        servers.append(server)
        ticket = server.post({"source": VECTOR_ADD, "target": TARGET})
        list(server.events(ticket))
        return server, ticket["id"]

    yield start
    for server in servers:
        server.close()


@pytest.mark.slow
def test_a_reachable_server_runs_on_gpus_for_roles_only(served):
    server, compilation = served(proxies=PROXY)
    status, problem = run_on_gpu(server, compilation, 0, "192.0.2.1")
    assert (status, problem["kind"]) == (403, "forbidden")
    assert "TRITON_EXPLORER_GPU_RUNS=all" in problem["detail"]
    devices = server.get(f"/api/v1/compilations/{compilation}/runs")["devices"]
    assert (devices["gpu"]["available"], devices["gpu"]["reason"]) == (False, problem["detail"])
    assert server.get("/healthz")["devices"]["gpu"]["available"]


@pytest.mark.nightly
@pytest.mark.slow
def test_each_client_has_a_quota_of_each_day(served):
    server, compilation = served(proxies=PROXY, gpu_runs="all", gpu_day_seconds="0.000001")
    assert run_on_gpu(server, compilation, 1, "192.0.2.1")[0] == 202
    status, problem = run_on_gpu(server, compilation, 2, "192.0.2.1")
    assert (status, problem["kind"]) == (429, "quota_used")
    assert run_on_gpu(server, compilation, 3, "192.0.2.2")[0] == 202, "another client has a quota of its own"


@pytest.mark.parametrize(
    ("settings", "needs_role", "seconds"),
    [
        ({}, False, 0.0),
        ({"host": "localhost"}, False, 0.0),
        ({"gpu_runs": "role"}, True, 0.0),
        ({"host": "0.0.0.0"}, True, 600.0),
        ({"host": "::"}, True, 600.0),
        ({"proxies": "127.0.0.1"}, True, 600.0),
        ({"host": "0.0.0.0", "gpu_runs": "all", "gpu_day_seconds": 9.0}, False, 9.0),
    ],
)
def test_a_loopback_address_needs_no_role(settings, needs_role, seconds):
    rules = gpu_rules_of(Settings(**settings))
    assert (rules.needs_role, rules.day_seconds) == (needs_role, seconds)


def test_an_unknown_rule_is_refused():
    with pytest.raises(SettingsError, match="GPU_RUNS"):
        Settings(gpu_runs="nobody")
