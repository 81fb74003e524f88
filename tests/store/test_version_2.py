"""A backup of an earlier version: its links, texts and deletion tokens are valid."""

import json
from pathlib import Path

import pytest
from earlier_answers import contains, read_zip
from record_version import KEY, SOURCE, TOKEN

from explorer import create_app
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store.opening import restore_store

FOLDER = Path(__file__).parent / "version_2"
IDS = json.loads((FOLDER / "ids.json").read_text())
ANSWERS = read_zip((FOLDER / "answers.zip").read_bytes())
PAGES = {"compilation": "k", "capture": "k", "session": "s", "matrix": "m"}

pytestmark = pytest.mark.slow


@pytest.fixture
def open_restored(tmp_path):
    """Restore the backup. Return a function that opens an application with it."""
    restore_store(FOLDER / "backup.tar.gz", tmp_path)
    apps = []

    def open_restored(**settings):
        apps.append(create_app(Settings(data_dir=tmp_path, slots=1, **settings)))
        return apps[-1].test_client()

    yield open_restored
    for app in apps:
        services_of(app).close()


@pytest.fixture
def client(open_restored):
    return open_restored()


def test_every_answer_is_unchanged(client):
    for address, before in ANSWERS.items():
        now = client.get(address)
        assert now.status_code == 200, address
        if now.mimetype == "text/csv":  # A later version adds columns at the end.
            rows = zip(now.data.splitlines(), before.splitlines(), strict=True)
            assert all(row.startswith(row_before) for row, row_before in rows), address
        elif now.mimetype != "application/json":
            assert now.data == before, address
        else:
            assert contains(now.get_json(), json.loads(before)), address


def test_links_lead_to_their_results(client):
    for name, result_id in IDS.items():
        if (page := PAGES.get(name.split()[-1])) and "run" not in name:
            assert client.get(f"/{page}/{result_id}").status_code == 200, name


def test_the_archive_has_the_same_files(client):
    now = read_zip(client.get(f"/api/v1/compilations/{IDS['compilation']}/archive.zip").data)
    assert now.keys() == read_zip((FOLDER / "archive.zip").read_bytes()).keys()


def test_the_key_of_a_private_result_leads_to_it(client):
    request = {"source": SOURCE.format(value=1), "target": "cuda:90", "private": KEY}
    response = client.post("/api/v1/compilations", json=request)
    assert (response.status_code, response.get_json()["id"]) == (200, IDS["private compilation"])


def test_an_equal_session_has_the_same_link(client):
    for kind in ("", "private "):
        kernels = [{"compilation": IDS[f"{kind}compilation"], "launches": 3}]
        response = client.post("/api/v1/sessions", json={"title": f"A {kind}program", "kernels": kernels})
        assert response.get_json()["id"] == IDS[f"{kind}session"]


def test_a_retained_result_outlives_the_others(open_restored):
    client = open_restored(keep_days=1e-9)
    store = services_of(client.application).store
    store.prune()
    assert store.find(IDS["compilation"]).is_final
    assert store.find(IDS["run"]).is_final
    assert not store.find(IDS["capture"]).is_final


@pytest.mark.parametrize("kind", ["", "private "])
def test_the_token_deletes_sessions_and_matrices_with_their_parts(client, kind):
    for name in ("session", "matrix"):
        result_id = IDS[f"{kind}{name}"]
        response = client.delete(f"/api/v1/results/{result_id}", headers={"Deletion-Token": TOKEN})
        assert response.status_code == 200
        assert result_id in response.get_json()["removed"]
        assert client.get(f"/{PAGES[name]}/{result_id}").status_code == 404
