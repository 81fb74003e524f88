"""Reading inserts no requests: only submissions do."""

import sqlite3
from pathlib import Path

import msgspec
import pytest

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store.backup import DATABASE_NAME
from explorer.store.sql import restore_store

pytestmark = pytest.mark.slow

RECORDED = Path(__file__).parents[1] / "store/version_2"
IDS = msgspec.json.decode((RECORDED / "ids.json").read_bytes(), type=dict[str, str])
PROFILE = "recorded-vector_add-0"
#: What may answer queries about a compilation. Some of these compile a variant, which is stored.
ANSWERS_QUERIES = ("queries.", "compilations.html", "compilations.zip_archive", "tours.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reads")
    restore_store(RECORDED / "backup.tar.gz", folder)
    return folder


@pytest.fixture(scope="module")
def client(folder):
    app = create_app(Settings(data_dir=folder, slots=1))
    yield app.test_client()
    services_of(app).close()


def addresses(app, result_id):
    """Yield the addresses of GET routes below any kind of result, with this ID."""
    for rule in app.url_map.iter_rules():
        names = {name for name in rule.arguments if name.endswith("_id")}
        is_compiling = "compilation_id" in names and rule.endpoint.startswith(ANSWERS_QUERIES)
        if "GET" in rule.methods and names and not is_compiling:
            values = {name: result_id if name in names else "1" for name in rule.arguments}
            yield rule.build(values)[1]


def requests_in(folder):
    with sqlite3.connect(folder / DATABASE_NAME) as connection:
        return connection.execute("SELECT id, status FROM compilation").fetchall()


@pytest.mark.parametrize(
    "name", ["compilation", "run", "run of a capture", "imported run", "session", "matrix", "profile"]
)
def test_a_get_inserts_no_request(client, folder, name):
    result_id, compilation = IDS.get(name, PROFILE), IDS["compilation"]
    before = requests_in(folder)
    asked = list(addresses(client.application, result_id))
    assert len(asked) > 20
    for address in asked:
        for query in ("", f"?compilation={compilation}"):
            client.get(address + query).get_data()
    assert requests_in(folder) == before
