"""Test the API's answers to a client that has exceeded its rate limit."""

import re
from typing import Any

import pytest
from api import Api
from tritons import TRITONS

from explorer import create_app
from explorer.model import Request
from explorer.services import services_of
from explorer.settings import Settings

pytestmark = pytest.mark.slow

LIMIT = 3
BODY_BYTES = 200_000


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    settings = Settings(
        data_dir=folder,
        tritons=TRITONS[0],
        slots=1,
        client_compilations_per_minute=LIMIT,
        client_exports_per_minute=2,
        client_queries_per_minute=2,
        client_bytes_per_minute=BODY_BYTES,
    )
    app = create_app(settings)
    yield app
    services_of(app).close()


@pytest.fixture
def api_of(limited):
    """Return the API for a client with a unique address."""

    def api(number):
        client = limited.test_client()
        client.environ_base["REMOTE_ADDR"] = f"192.0.2.{number}"
        return Api(client)

    return api


def assert_refused(response, what):
    assert response.status_code == 429
    problem = response.get_json()
    assert problem["kind"] == "too_many_requests"
    assert what in problem["detail"]
    seconds = int(response.headers["Retry-After"])
    assert 0 < seconds <= 61
    assert re.search(rf"Try again in {seconds} seconds\.", problem["detail"])


@pytest.mark.nightly
def test_only_new_work_counts(limited, api_of):
    api, other = api_of(1), api_of(2)
    sources = [f"x = {number}\n" for number in range(LIMIT)]
    assert {api.submit(source).status_code for source in sources} <= {200, 202}
    assert_refused(api.submit("x = 'one more'\n"), f"its {LIMIT} compilations")
    for source in sources:
        api.compile(source)
    assert [api.submit(source).status_code for source in sources * 3] == [200] * 9
    assert api.submit(sources[0]).status_code == 200
    assert other.submit(sources[0]).status_code == 200
    refused = Request("x = 'one more'\n", "cuda:90", services_of(limited).versions[0])
    assert services_of(limited).store.known(refused) is None
    assert other.submit("x = 'one more'\n").status_code in (200, 202)


def test_a_removed_result_that_is_opened_counts(limited, api_of):
    ticket = api_of(3).compile("x = 'removed'\n")
    store: Any = services_of(limited).store
    record = store.find(ticket["id"])
    store._records._forget(record.id, record.journal)
    busy = api_of(4)
    for number in range(LIMIT):
        busy.compile(f"x = 'busy {number}'\n")
    assert_refused(busy.client.get(ticket["api"]), "compilations")
    assert api_of(5).client.get(ticket["api"]).status_code == 200


def test_exports_count(api_of, vector_add):
    api = api_of(6)
    ticket = api.compile(vector_add)
    archive = f"{ticket['api']}/archive.zip"
    assert [api.client.get(archive).status_code for _ in range(2)] == [200, 200]
    assert_refused(api.client.get(archive), "its 2 exports")
    assert_refused(api.client.get(f"{ticket['api']}/export.html"), "its 2 exports")


def test_inspections_count(api_of):
    api = api_of(8)
    sources = [{"source": f"x = 'inspected {number}'\n"} for number in range(3)]
    assert [api.client.post("/api/v1/inspect", json=each).status_code for each in sources[:2]] == [200, 200]
    assert_refused(api.client.post("/api/v1/inspect", json=sources[2]), "its 2 inspections and queries")


def test_the_length_of_bodies_counts(api_of):
    api = api_of(7)
    source = f"# {'x' * (BODY_BYTES // 2)}\n"
    assert api.submit(source).status_code in (200, 202)
    assert_refused(api.submit(source), "bytes of requests")
    assert api.client.get("/api/v1/targets").status_code == 200
