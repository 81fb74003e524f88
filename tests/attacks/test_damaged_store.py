"""Damaged and missing files of a store: nothing wrong is answered, and results are computed again."""

import subprocess
import sys
from pathlib import Path

import pytest

from explorer import create_app
from explorer.errors import DamagedText, StoreError
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store.files import FileBlobStore

ROOT = Path(__file__).parents[2]


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def remove(path):
    path.unlink()


def empty(path):
    path.write_bytes(b"")


def swap(path):
    """Replace a file by another sound one."""
    other = next(each for each in path.parent.glob("*.zst") if each != path)
    path.write_bytes(other.read_bytes())


DAMAGE = pytest.mark.parametrize("damage", [flip, remove, empty, swap], ids=lambda damage: damage.__name__)


@pytest.fixture
def blobs(tmp_path):
    store = FileBlobStore(tmp_path / "blobs")
    batch = store.batch()
    batch.add("another text")
    batch.commit()
    yield store
    store.close()


def add(blobs, text):
    batch = blobs.batch()
    address = batch.add(text)
    batch.commit()
    return address


@DAMAGE
def test_a_damaged_blob_is_written_again(blobs, damage):
    address = add(blobs, "precious " * 1000)
    damage(blobs.path(address))
    assert blobs.read_frame(address) is None
    assert add(blobs, "precious " * 1000) == address
    assert blobs.read(address) == b"precious " * 1000


@DAMAGE
def test_a_damaged_blob_is_not_returned(blobs, damage):
    address = add(blobs, "precious " * 1000)
    damage(blobs.path(address))
    with pytest.raises(DamagedText):
        blobs.read(address)


def test_a_folder_that_is_away_is_not_taken_for_damage(blobs, tmp_path):
    address = add(blobs, "precious")
    (tmp_path / "blobs").rename(tmp_path / "away")
    with pytest.raises(StoreError, match="Cannot read the folder") as error:
        blobs.read(address)
    assert not isinstance(error.value, DamagedText)
    (tmp_path / "away").rename(tmp_path / "blobs")
    assert blobs.read(address) == b"precious"


@pytest.fixture(scope="module")
def broken_app(tmp_path_factory):
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("broken"), slots=1))
    yield app
    services_of(app).close()


@pytest.fixture
def broken(broken_app):
    return broken_app.test_client()


@pytest.fixture
def source(vector_add):
    """Return a source that is not retained, unlike the gallery's sources."""
    return f"{vector_add}# changed\n"


def compile_(client, source):
    ticket = client.post("/api/v1/compilations", json={"source": source, "target": "cuda:90"}).get_json()
    return wait(client, ticket["api"])


def wait(client, address):
    client.get(f"{address}/events").get_data()
    return client.get(address).get_json()


def path_of(app, record_id, what):
    store = services_of(app).store
    record = store.find(record_id)
    address = record.journal if what == "journal" else record.stage("ttgir").text
    return services_of(app).settings.data_dir.resolve() / "blobs" / f"{address}.zst"


@pytest.mark.slow
@DAMAGE
def test_a_result_with_a_damaged_text_is_computed_again(broken_app, broken, source, damage):
    index = compile_(broken, source)
    address = f"/api/v1/compilations/{index['id']}"
    before = broken.get(f"{address}/stages/ttgir").get_data()
    damage(path_of(broken_app, index["id"], "text"))
    problem = broken.get(f"{address}/stages/ttgir")
    assert problem.status_code == 503
    assert problem.get_json()["kind"] == "damaged_text"
    assert "computed again" in problem.get_json()["detail"]
    assert problem.headers["Retry-After"]
    assert wait(broken, address)["status"] == "complete"
    assert broken.get(f"{address}/stages/ttgir").get_data() == before


@pytest.mark.slow
def test_a_result_with_a_damaged_journal_is_computed_again(broken_app, broken, source):
    index = compile_(broken, source)
    address = f"/api/v1/compilations/{index['id']}"
    flip(path_of(broken_app, index["id"], "journal"))
    store = services_of(broken_app).store
    store._records._journal.cache_clear()  # as after a restart
    assert broken.get(f"/k/{index['id']}").status_code == 200
    assert wait(broken, address)["status"] == "complete"
    assert broken.get(f"{address}/stages/ttgir").status_code == 200


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "explorer", "store", *arguments, "--data-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_the_command_finds_damage_and_repairs_it(broken_app, broken, source):
    index = compile_(broken, source)
    folder = services_of(broken_app).settings.data_dir
    done = command(folder, "check")
    assert (done.returncode, done.stdout) == (0, "All stored texts are sound.\n")
    path = path_of(broken_app, index["id"], "text")
    flip(path)
    done = command(folder, "check")
    assert done.returncode == 1
    assert f"{path.stem}: damaged; used by {index['id']}" in done.stdout
    assert path.is_file()
    assert command(folder, "repair").returncode == 0
    assert not path.exists()
    address = f"/api/v1/compilations/{index['id']}"
    assert wait(broken, address)["status"] == "complete"
    assert command(folder, "check").returncode == 0


@pytest.mark.nightly
def test_the_command_prunes_beside_a_server(broken_app, broken, source):
    index = compile_(broken, source)
    folder = services_of(broken_app).settings.data_dir
    services_of(broken_app).store.write_uses()
    done = command(folder, "prune", "--keep-days", "0.0000001")
    assert done.returncode == 0
    assert "Removed 1 results" in done.stdout
    address = f"/api/v1/compilations/{index['id']}"
    assert wait(broken, address)["status"] == "complete"
    assert "There is no folder" in command(folder / "nothing", "prune").stderr


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--quota", "--keep-days"])
@pytest.mark.parametrize("amount", ["-1", "nan", "inf", "all"])
def test_an_amount_that_is_none_is_refused(tmp_path, option, amount):
    done = command(tmp_path, "prune", option, amount)
    assert done.returncode == 2
    assert f"argument {option}: must be a number of at least 0, got '{amount}'" in done.stderr
