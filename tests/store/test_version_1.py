"""Results that an earlier version stored: every link, stored text and answer is as it was."""

import json
import zipfile
from pathlib import Path

import pytest
from earlier_answers import contains, read_zip

from explorer import create_app
from explorer.queries import QUERIES
from explorer.services import services_of
from explorer.settings import Settings

FOLDER = Path(__file__).parent / "version_1"
COMPILATION, OTHER, FAILED, RUN = "Z2CFaWgV3tfs", "Vq7PY3Hrk8Z7", "UR3Yp9MYoqFM", "JLrEL7iQ3EhF"
#: The versions of the queries whose answers are stored, and their parameters.
STORED_QUERIES = {
    "allocation": (3, {}),
    "changes": (1, {}),
    "fewer_stages": (1, {}),
    "graph": (2, {"stage": "ttgir"}),
    "layouts": (4, {}),
    "occupancy": (1, {}),
    "registers": (4, {}),
    "tensor_registers": (1, {}),
}
#: Answers that are computed again, with sentences that may be worded differently.
REWORDED = {"layouts", "registers", "roofline"}


ANSWERS = read_zip((FOLDER / "answers.zip").read_bytes())


@pytest.fixture(scope="module")
def old_app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("version_1")
    with zipfile.ZipFile(FOLDER / "data.zip") as archive:
        archive.extractall(folder)
    app = create_app(Settings(data_dir=folder, slots=1))
    yield app
    services_of(app).close()


@pytest.fixture
def client(old_app):
    return old_app.test_client()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_stored_answers_are_used(old_app, query):
    version, parameters = STORED_QUERIES.get(query.name, (None, {}))
    if query.version != version:
        pytest.skip("nothing is stored by this version of the query")
    services = old_app.extensions["triton-explorer"]
    record = services.store.find(COMPILATION)
    assert services.query_service.cached(query, record, parameters) is not None


@pytest.mark.slow
@pytest.mark.parametrize("address", ANSWERS)
def test_every_answer_is_unchanged(client, address):
    response = client.get(f"/{address}")
    before = ANSWERS[address]
    assert response.status_code == 200
    if response.data == before:
        return
    # The document of a compilation has later answers; other documents may have gained fields.
    assert response.mimetype == "application/json"
    is_reworded = address.rpartition("/")[2] in REWORDED
    assert contains(response.get_json(), json.loads(before), is_reworded=is_reworded)


@pytest.mark.parametrize("compilation", [COMPILATION, OTHER, FAILED])
def test_links_lead_to_their_results(client, compilation):
    response = client.get(f"/k/{compilation}")
    assert response.status_code == 200
    assert f"/api/v1/compilations/{compilation}" in response.text
    assert client.get(f"/embed/{compilation}").status_code == 200


def test_a_run_is_of_its_compilation(client):
    (row,) = client.get(f"/api/v1/compilations/{COMPILATION}/runs").get_json()["runs"]
    assert row["id"] == RUN
    problem = client.get(f"/api/v1/compilations/{RUN}")
    assert problem.status_code == 404
    assert f"/k/{COMPILATION}#panes=run:{RUN}" in problem.get_json()["detail"]


def test_the_archive_has_the_same_files(client):
    now = read_zip(client.get(f"/api/v1/compilations/{COMPILATION}/archive.zip").data)
    before = read_zip((FOLDER / "archive.zip").read_bytes())
    assert now.keys() == before.keys()
    index = f"{COMPILATION}/result.json"
    assert contains(json.loads(now.pop(index)), json.loads(before.pop(index)))
    assert now == before


@pytest.mark.slow
def test_the_page_can_be_saved(client):
    response = client.get(f"/api/v1/compilations/{COMPILATION}/export.html")
    assert response.status_code == 200
    assert f'"/api/v1/runs/{RUN}' in response.text
