"""The commands of stored results: statistics, backup and restore."""

import json
import os
import sqlite3
import subprocess
import sys
import tarfile
import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from api import Api
from tritons import TRITONS

from explorer import create_app
from explorer.model import Done, Pass, Request, Stage
from explorer.services import open_store_of, services_of
from explorer.settings import Settings
from explorer.store.entry_writer import EntryWriter

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(params=["folder", "s3"])
def settings(request, tmp_path):
    """The settings of a store with texts in a folder, and of one with texts in an S3 store."""
    url = request.getfixturevalue("blobs_url") if request.param == "s3" else ""
    return Settings(data_dir=tmp_path / "data", blobs_url=url)


def command(settings, *arguments):
    """Run a command on the data folder of the settings."""
    urls = {"BLOBS_URL": settings.blobs_url, "DATABASE_URL": settings.database_url}
    variables = {f"TRITON_EXPLORER_{name}": url for name, url in urls.items() if url}
    return subprocess.run(
        [sys.executable, "-m", "explorer", "store", *map(str, arguments), "--data-dir", settings.data_dir],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def store_result(store, number, client="192.0.2.1"):
    """Store a result with a unique text and a text that all results share. Return its ID."""
    record = store.submit(Request(f"# {number}", "cuda:90", "3.9.0"), client)
    batch = store.batch()
    writer = EntryWriter(batch)
    events = (
        Stage("ttir", "TTIR", "ttir", 1.0, f"own text {number}\n" * 100, None, (), ()),
        Pass(0, "ttgir", "make", "Make", (), 1.0, "shared text"),
        Done("complete", 1.0),
    )
    store.finish(record.id, [writer.write(event) for event in events], batch)
    batch.discard()
    store.answers.keep(store.find(record.id), {"how many?": f"[{number}]".encode()})
    return record.id


def texts_of(store, record_id):
    """Return everything that is stored of a result."""
    record = store.find(record_id)
    assert record.is_final
    texts = [record.text(record.stage("ttir").text), record.text_after_pass(0)]
    return [record.request, record.entries, *texts, store.answers.find(record, "how many?")]


@contextmanager
def jobs(store):
    """Store results until the end of the block, without a pause. The value is the list of their IDs."""
    ids: list[str] = []
    is_over = threading.Event()

    def work():
        while not is_over.is_set():
            ids.append(store_result(store, 1000 + len(ids)))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield ids
    finally:
        is_over.set()
        thread.join()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["backup", "backup.tar"])
def test_a_backup_that_is_made_while_jobs_run_is_restored(settings, tmp_path, name):
    with closing(open_store_of(settings)) as store:
        before = {
            each: texts_of(store, each) for each in (store_result(store, number) for number in range(5))
        }
        with jobs(store) as later:
            done = command(settings, "backup", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert "and the database" in done.stdout
        before |= {each: texts_of(store, each) for each in later}
    blobs_url = settings.blobs_url.replace("/texts?", "/restored?")
    new = replace(settings, data_dir=tmp_path / "new", blobs_url=blobs_url)
    done = command(new, "restore", tmp_path / name)
    assert done.returncode == 0, done.stderr
    with closing(open_store_of(new)) as store:
        with closing(sqlite3.connect(tmp_path / "new/explorer.sqlite")) as connection:
            query = "SELECT id FROM compilation WHERE journal IS NOT NULL"
            restored = {row[0] for row in connection.execute(query)}
        assert len(restored) >= 5
        for each in restored:
            assert texts_of(store, each)[:-1] == before[each][:-1]
            assert texts_of(store, each)[-1] in (before[each][-1], None)
        assert all(texts_of(store, each) == before[each] for each in list(before)[:5])
        assert list(store.verify()) == []


@pytest.mark.nightly
def test_a_backup_overwrites_nothing_and_is_not_restored_over_a_store(settings, tmp_path):
    with closing(open_store_of(settings)) as store:
        record_id = store_result(store, 1)
    for name in ("backup", "backup.tar"):
        assert command(settings, "backup", tmp_path / name).returncode == 0
        again = command(settings, "backup", tmp_path / name)
        assert (again.returncode, "exists. Name a new folder" in again.stderr) == (1, True)
        refused = command(settings, "restore", tmp_path / name)
        assert (refused.returncode, "exists. Restore into a new data folder" in refused.stderr) == (1, True)
    with closing(open_store_of(settings)) as store:
        texts_of(store, record_id)


def test_a_damaged_text_is_named_when_it_is_backed_up_and_when_it_is_restored(tmp_path):
    settings = Settings(data_dir=tmp_path / "data")
    with closing(open_store_of(settings)) as store:
        record_id = store_result(store, 1)
        address = store.find(record_id).stage("ttir").text
    assert command(settings, "backup", tmp_path / "sound").returncode == 0
    (settings.data_dir / f"blobs/{address}.zst").write_bytes(b"damaged")
    done = command(settings, "backup", tmp_path / "without")
    assert done.returncode == 1
    assert f"{address}: missing or damaged" in done.stderr
    assert (tmp_path / "without/explorer.sqlite").is_file()
    (tmp_path / f"sound/blobs/{address}.zst").write_bytes(b"damaged")
    new = replace(settings, data_dir=tmp_path / "new")
    done = command(new, "restore", tmp_path / "sound")
    assert done.returncode == 1
    assert f"{address}: damaged in the backup" in done.stderr
    with closing(open_store_of(new)) as store:
        assert [damage.address for damage in store.verify()] == [address]
        assert store.find(record_id).text_after_pass(0) == "shared text"


def test_damaged_and_missing_objects_of_an_s3_store_are_found_and_repaired(blobs_url, bucket, tmp_path):
    settings = Settings(data_dir=tmp_path / "data", blobs_url=blobs_url)
    with closing(open_store_of(settings)) as store:
        damaged, missing = store_result(store, 1), store_result(store, 2)
        addresses = [store.find(each).stage("ttir").text for each in (damaged, missing)]
    paths = [bucket / "texts" / f"{address}.zst" for address in addresses]
    paths[0].write_bytes(paths[0].read_bytes()[::-1])
    paths[1].unlink()
    done = command(settings, "check")
    assert done.returncode == 1
    assert f"{addresses[0]}: damaged; used by {damaged}" in done.stdout
    assert f"{addresses[1]}: missing; used by {missing}" in done.stdout
    assert command(settings, "repair").returncode == 0
    assert not paths[0].exists()
    assert command(settings, "check").stdout == "All stored texts are sound.\n"
    with closing(open_store_of(settings)) as store:
        assert not store.find(damaged).is_final
        assert store_result(store, 1) == damaged
        assert texts_of(store, damaged)
    assert paths[0].exists()


def test_what_is_no_backup_is_refused_and_leaves_no_database(tmp_path):
    settings = Settings(data_dir=tmp_path / "new")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.tar").write_bytes(b"no archive")
    with tarfile.open(tmp_path / "without.tar", "w"):
        pass
    for name in ("folder", "file.tar", "without.tar", "missing"):
        done = command(settings, "restore", tmp_path / name)
        assert done.returncode == 1
        assert name in done.stderr
        assert "Traceback" not in done.stderr
    assert not list((tmp_path / "new").glob("explorer.sqlite*"))


def test_another_database_has_its_own_tool(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_EXPLORER_DATABASE_URL", "postgresql+psycopg://user:secret@localhost/explorer")
    done = command(Settings(data_dir=tmp_path / "new"), "restore", tmp_path)
    assert done.returncode == 1
    assert "with its own tool" in done.stderr
    assert "secret" not in done.stderr


def test_statistics_count_results_by_kind_age_and_client(settings):
    with closing(open_store_of(settings)) as store:
        for number in range(3):
            store_result(store, number)
        largest = store_result(store, 123_456, "192.0.2.2")
        store.submit(Request("# no result", "hip:gfx942", "3.9.0"), "192.0.2.2")
        sizes = dict(store._blobs.sizes())
    done = command(settings, "stats", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["texts"], found["text_bytes"]) == (len(sizes), sum(sizes.values()))
    assert (found["all"]["requests"], found["all"]["results"]) == (5, 4)
    assert found["by_task"]["compile"] == found["all"] == found["by_age"]["day"]
    assert (found["by_status"]["complete"]["results"], found["by_status"]["queued"]["results"]) == (4, 0)
    assert {name: group["requests"] for name, group in found["by_client"].items()} == {
        "192.0.2.1": 3,
        "192.0.2.2": 2,
    }
    assert len(found["largest"]) == 5
    assert [each["bytes"] for each in found["largest"]] == sorted(
        (each["bytes"] for each in found["largest"]), reverse=True
    )
    shown = command(settings, "stats").stdout
    assert f"{len(sizes)} texts" in shown
    assert "192.0.2.2" in shown
    assert largest in shown


@pytest.mark.nightly
def test_a_result_in_postgresql_and_s3_is_repaired_by_compiling_again(
    postgresql, blobs_url, bucket, tmp_path, vector_add
):
    settings = Settings(
        data_dir=tmp_path / "data",
        database_url=postgresql.new_database(),
        blobs_url=blobs_url,
        blob_cache_bytes=0,
        slots=1,
        tritons=TRITONS[0],
    )

    def stages():
        app = create_app(settings)
        try:
            api = Api(app.test_client())
            ticket = api.compile(vector_add)
            index = api.client.get(ticket["api"]).get_json()
            record = services_of(app).store.find(ticket["id"])
            return index["status"], {
                name: (each.text, record.text(each.text)) for name, each in record.result.stages.items()
            }
        finally:
            services_of(app).close()

    status, before = stages()
    assert status == "complete"
    assert command(settings, "check").stdout == "All stored texts are sound.\n"
    damaged, missing = before["ttir"][0], before["ptx"][0]
    (bucket / f"texts/{damaged}.zst").write_bytes(b"damaged")
    (bucket / f"texts/{missing}.zst").unlink()
    done = command(settings, "check")
    assert (done.returncode, f"{damaged}: damaged" in done.stdout, f"{missing}: missing" in done.stdout) == (
        1,
        True,
        True,
    )
    done = command(settings, "repair")
    assert (done.returncode, "Repaired: the results are computed again" in done.stdout) == (0, True)
    assert stages() == ("complete", before)
    assert command(settings, "check").returncode == 0
    assert command(settings, "stats").returncode == 0
    assert command(settings, "prune").returncode == 0
