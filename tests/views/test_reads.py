"""Test that GET requests to a server that does its jobs insert no requests: only submissions do."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store.backup import DATABASE_NAME
from explorer.store.opening import restore_store
from explorer.tours import load_tours

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parents[1] / "store/version_2"
IDS = msgspec.json.decode((RECORDED / "ids.json").read_bytes(), type=dict[str, str])
PROFILE = "recorded-vector_add-0"
#: Arguments of routes by the blueprint, so that the routes lead to stored results.
NAMES = {
    "stages": "ttir",
    "queries": "ttir",
    "runs": "counts",
    "meta": "vector_add",
    "tours": load_tours()[0].name,
}
#: Queries for which a kernel is compiled again.
PARAMETERS = {"queries.lineage": "?pass=3&line=5", "queries.why": "?pass=3&line=5"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    restore_store(RECORDED / "backup.tar.gz", folder)
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection, connection:
        # The version that recorded the folder inserted the compilation of a captured kernel in a GET.
        assert connection.execute("DELETE FROM compilation WHERE status = 'queued'").rowcount == 1
    return folder


@pytest.fixture(scope="module")
def client(folder):
    app = create_app(Settings(data_dir=folder, slots=1))
    yield app.test_client()
    services_of(app).close()


def addresses(app, result_id=None):
    """Yield the addresses of the GET routes below a result, or else of the other routes."""
    for rule in app.url_map.iter_rules():
        ids = {name for name in rule.arguments if name.endswith("_id")}
        if "GET" not in rule.methods or bool(ids) != (result_id is not None):
            continue
        name = NAMES.get(rule.endpoint.partition(".")[0], "1")
        values = dict.fromkeys(rule.arguments, name) | {"index": 3, "step": 1, "tour": NAMES["tours"]}
        values |= dict.fromkeys(ids, result_id)
        address = rule.build(values, append_unknown=False)[1]
        yield address + PARAMETERS.get(rule.endpoint, "")
        if "run_id" in ids:
            yield f"{address}?compilation={IDS['compilation']}"


def requests_in(folder):
    """Return the rows of requests, and of further tables that a submission writes."""
    with closing(sqlite3.connect(folder / DATABASE_NAME)) as connection:
        return {
            table: sorted(connection.execute(f"SELECT {columns} FROM {table}"))
            for table, columns in (
                ("compilation", "id, status"),
                ("run", "id"),
                ("live", "id"),
                ("claim", "id"),
            )
        }


def inserted(client, folder, asked):
    """Return the addresses whose GET changed the tables."""
    found, before = [], requests_in(folder)
    for address in asked:
        client.get(address).get_data()
        if (now := requests_in(folder)) != before:
            found.append(address)
            before = now
    return found


@pytest.mark.parametrize(
    "name",
    ["compilation", "capture", "run", "run of a capture", "imported run", "session", "matrix", "profile"],
)
def test_a_get_about_a_result_inserts_no_request(client, folder, name):
    asked = list(addresses(client.application, IDS.get(name, PROFILE)))
    assert len(asked) > 50
    assert inserted(client, folder, asked) == []


def test_the_other_gets_insert_no_request(client, folder):
    asked = list(addresses(client.application))
    assert len(asked) > 20
    assert inserted(client, folder, asked) == []


def test_further_compilations_are_submitted_by_post(client, folder):
    address = f"/api/v1/compilations/{IDS['compilation']}/fewer_stages"
    refused = client.get(address)
    assert (refused.status_code, refused.get_json()["kind"]) == (422, "not_answerable")
    before = requests_in(folder)["compilation"]
    answer = client.post(address)
    assert answer.status_code == 200
    rows = {row["id"] for row in answer.get_json()["rows"]}
    assert len(rows) > 1
    assert {each for each, _ in requests_in(folder)["compilation"]} == rows | {each for each, _ in before}
    assert client.get(address).get_json() == answer.get_json()
