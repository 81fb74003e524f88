"""Send requests that schemathesis makes of the OpenAPI document to a server, and compare the answers with it.

FUZZ_EXAMPLES sets the number of requests for each endpoint.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1"))
#: A request or an answer may take longer on a busy machine.
ANSWER_SECONDS = 60
CHECKS: list[Callable[..., bool | None]] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def compilation(server):
    """The ID of a finished compilation, which no strategy guesses."""
    example = server.get("/api/v1/gallery/vector_add")["source"]
    ticket = server.post({"source": example, "target": "cuda:90"})
    assert list(server.events(ticket))[-1] == "done"
    return ticket["id"]


@pytest.fixture(scope="module")
def description(server):
    return schemathesis.openapi.from_url(f"{server.url}/api/v1/openapi.json")


schema = schemathesis.pytest.from_fixture("description")


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_as_described(case, compilation):
    parameters = case.path_parameters
    for name in set(parameters) & {"compilation_id", "before_id", "after_id"}:
        if len(str(parameters[name])) % 4:  # otherwise there is no such compilation
            parameters[name] = compilation
    case.call_and_validate(checks=CHECKS, timeout=ANSWER_SECONDS)


def test_the_server_lives(server):
    assert server.get("/healthz")["status"] == "ok"
    assert Path(f"/proc/{server.worker.pid}").exists()
