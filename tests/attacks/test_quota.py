"""Clients that store without end: the folder stays within its quota, and other clients keep their results."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from explorer import create_app
from explorer.errors import NotFound, QueueFull, StoreFull
from explorer.examples import load_examples
from explorer.jobs import LocalQueue, Metrics, QueueLimits, Runners, SandboxRunner
from explorer.model import Done, Pass, Request, Run, Stage
from explorer.services import services_of
from explorer.settings import Settings
from explorer.store import Pruner, Quotas, open_store
from explorer.store.entry_writer import EntryWriter
from explorer.store.retention import Usage, choose
from explorer.store.tables import UsageRow

MEBIBYTE = 2**20
ATTACKER, NEIGHBOR = "192.0.2.1", "192.0.2.2"
NOW = datetime.now(UTC)


def disk_bytes(folder):
    found = 0
    for path in (folder / "blobs").rglob("*"):
        with suppress(FileNotFoundError):  # the pruner has just removed it
            found += path.stat().st_size if path.is_file() else 0
    return found


def request_of(name):
    return Request(f"# {name}", "cuda:90", "3.9.0")


def store_result(store, name, client="", size=100_000, shared="shared"):
    """Store a result with a random text and a text that all results share. Return its ID and the random
    text."""
    record = store.submit(request_of(name), client)
    batch = store.batch()
    writer = EntryWriter(batch)
    own = os.urandom(size // 2).hex()
    events = (
        Stage("ttir", "TTIR", "ttir", 1.0, own, None, (), ()),
        Pass(0, "ttgir", "make", "Make", (), 1.0, shared),
        Done("complete", 1.0),
    )
    store.finish(record.id, [writer.write(event) for event in events], batch)
    batch.discard()
    return record.id, own


def is_kept(store, record_id):
    return store.find(record_id).is_final


@pytest.fixture
def open_limited(tmp_path):
    stores = []

    def open_one(**limits):
        stores.append(open_store(tmp_path, quotas=Quotas(**limits)))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.mark.slow
def test_a_flood_stays_within_the_quota(open_limited, tmp_path):
    store = open_limited(total_bytes=4 * MEBIBYTE)
    pruner = Pruner(store)
    refused, most = 0, 0
    try:
        for number in range(200):
            try:
                store.admit(ATTACKER)
            except StoreFull as error:
                refused += 1
                assert error.status == 507
                store.prune()
                store.admit(ATTACKER)
            store_result(store, number, ATTACKER)
            most = max(most, disk_bytes(tmp_path))
    finally:
        pruner.close()
    assert most < 4.2 * MEBIBYTE  # of 200 × 50 kB
    assert is_kept(store, store.submit(request_of(199)).id)
    oldest = store.submit(request_of(0))
    assert (oldest.status, oldest.is_final) == ("queued", False)  # its link computes it again


@pytest.mark.slow
def test_a_flood_removes_the_results_of_its_own_client_only(open_limited):
    store = open_limited(total_bytes=20 * MEBIBYTE, client_bytes=MEBIBYTE)
    theirs, _ = store_result(store, "theirs", NEIGHBOR)
    unknown, _ = store_result(store, "of an earlier version")
    for number in range(30):
        store_result(store, number, ATTACKER)
    with pytest.raises(StoreFull, match="submitted from your address"):
        store.admit(ATTACKER)
    assert store.pruning_is_due.is_set()
    store.admit(NEIGHBOR)
    assert store.prune().results >= 10
    store.admit(ATTACKER)
    assert is_kept(store, theirs)
    assert is_kept(store, unknown)
    assert is_kept(store, store.submit(request_of(29)).id)
    assert not is_kept(store, store.submit(request_of(0)).id)


@pytest.mark.slow
def test_what_others_refer_to_is_kept(open_limited):
    store = open_limited(total_bytes=MEBIBYTE)
    kept, _ = store_result(store, "retained", NEIGHBOR)
    store.retain(kept, NEIGHBOR)
    for number in range(40):
        store_result(store, number, ATTACKER)
    assert store.prune().results > 10
    record = store.find(kept)
    assert record.is_final
    assert record.text_after_pass(0) == "shared"
    assert list(store.verify()) == []


def test_pins_are_limited(open_limited):
    store = open_limited(total_bytes=10 * MEBIBYTE, client_bytes=MEBIBYTE)
    ids = [store_result(store, number, ATTACKER)[0] for number in range(15)]
    with pytest.raises(StoreFull, match="The link still works"):
        for record_id in ids:
            store.retain(record_id, ATTACKER)
    store.retain(ids[0], ATTACKER)  # it is retained
    with pytest.raises(NotFound):
        store.retain("123456789ABC", ATTACKER)
    store.prune()
    assert is_kept(store, ids[0])
    store.retain(store_result(store, "theirs", NEIGHBOR)[0], NEIGHBOR)
    pruned = store.prune(with_retained=True)
    assert pruned.results == 0  # retained results count, and are within the quota


def test_runs_of_a_retained_compilation_are_retained(open_limited):
    store = open_limited(keep_days=1.0)
    compilation, _ = store_result(store, "kernel")
    run = store.submit(replace(request_of("kernel"), task="run", run=Run("interpreter")))
    other, _ = store_result(store, "other")
    store.retain(compilation, NEIGHBOR)
    usages = {usage.id: usage.is_retained for usage in store._housekeeping._usages()}
    assert usages == {compilation: True, run.id: True, other: False}


def test_who_retains_a_result_of_the_gallery_retains_its_runs(open_limited):
    store = open_limited()
    request = Request(load_examples()[0].source, "cuda:90", "3.9.0")
    compilation = store.submit(request)
    run = store.submit(replace(request, task="run", run=Run("interpreter")))

    def is_retained():
        return {usage.id: usage.is_retained for usage in store._housekeeping._usages()}

    assert is_retained() == {compilation.id: True, run.id: False}
    store.retain(compilation.id, NEIGHBOR)
    assert is_retained() == {compilation.id: True, run.id: True}


def test_a_request_stays_as_long_as_its_job_waits(open_limited):
    store = open_limited(total_bytes=1000)
    waiting, over = store.submit(request_of("waits")), store.submit(request_of("is over"))
    batch = store.batch(waiting.id)
    with store._database.writing() as session:
        store._housekeeping._used.clear()
        session.execute(
            update(UsageRow).values(used=datetime.now(UTC) - timedelta(hours=2), request_bytes=1000)
        )
    store.prune()
    assert store.find(waiting.id).request == waiting.request
    with pytest.raises(NotFound):
        store.find(over.id)
    batch.discard()


def test_the_gallery_is_retained_as_the_page_compiles_it(open_limited):
    store = open_limited()
    request = Request(load_examples()[0].source, "cuda:90", "3.9.0")
    examples = [store.submit(request).id, store.submit(replace(request, target="hip:gfx942")).id]
    other = store.submit(replace(request, options={"num_warps": 8})).id
    usages = {usage.id: usage.is_retained for usage in store._housekeeping._usages()}
    assert usages == {examples[0]: True, examples[1]: True, other: False}


def usage(name, days, size=100, client="", is_retained=False):
    return Usage(name, client, NOW - timedelta(days=days), 10, size, is_retained)


def test_a_long_time_removes_nothing():
    assert not choose([usage("a", 400)], 100, Quotas(keep_days=1e12), NOW)


def test_what_was_used_last_is_removed_last():
    usages = [usage(name, days) for name, days in (("b", 2), ("a", 3), ("d", 0), ("c", 1))]
    assert choose(usages, 440, Quotas(total_bytes=1000), NOW).results == set()
    assert choose(usages, 440, Quotas(total_bytes=400), NOW).results == {"a", "b"}
    plan = choose(usages, 440, Quotas(total_bytes=20), NOW)
    assert plan.results == {"a", "b", "c", "d"}
    assert plan.requests == {"a", "b", "c"}  # the latest may wait in a queue
    assert choose(usages, 440, Quotas(keep_days=1.5), NOW).results == {"a", "b"}
    retained = [replace(each, is_retained=True) for each in usages]
    assert not choose(retained, 440, Quotas(total_bytes=20, keep_days=1.5), NOW)
    assert choose(retained, 440, Quotas(total_bytes=20), NOW, with_retained=True).results


def test_the_quota_of_a_client_removes_nothing_that_is_retained():
    usages = [usage("kept", 2, client=ATTACKER, is_retained=True), usage("other", 1, client=ATTACKER)]
    assert choose(usages, 220, Quotas(client_bytes=100), NOW).results == {"other"}


def test_opening_a_result_is_a_use(open_limited):
    store = open_limited(total_bytes=MEBIBYTE)
    first, _ = store_result(store, "first")
    for number in range(20):
        store_result(store, number)
    store.write_uses()
    store.find(first)
    store.write_uses()
    assert store.prune().results >= 5
    assert is_kept(store, first)


def test_an_attempt_takes_the_space_of_the_one_that_it_replaces(open_limited):
    store = open_limited(client_bytes=MEBIBYTE)
    record = store.submit(request_of("slow"), ATTACKER)
    for _ in range(20):
        batch = store.batch()
        stage = Stage("ttir", "TTIR", "ttir", 1.0, os.urandom(100_000).hex(), None, (), ())
        entry = EntryWriter(batch).write(stage)
        store.finish(record.id, [entry, Done("failed", 1.0, is_transient=True)], batch)
        batch.discard()
    store.admit(ATTACKER)


@pytest.mark.parametrize("step", ["_collect", "_usages"])
def test_what_is_opened_while_the_store_is_pruned_keeps_its_request(open_limited, monkeypatch, step):
    store = open_limited(total_bytes=1)
    record_id, _ = store_result(store, "old")
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    store.write_uses()
    with store._database.writing() as session:
        session.execute(update(UsageRow).values(used=long_ago))
    take_step = getattr(store._housekeeping, step)

    def open_meanwhile():
        done = take_step()
        store.find(record_id)
        return done

    monkeypatch.setattr(store._housekeeping, step, open_meanwhile)
    store.prune()
    assert store.find(record_id).request == request_of("old")


def test_a_result_that_is_being_stored_is_not_removed(open_limited):
    """The blobs of a batch have no row yet; one of them is stored already, for a result that is removed."""
    store = open_limited(keep_days=1.0, total_bytes=1)
    batch = store.batch()
    address = batch.add("shared")
    store_result(store, "old")
    store.prune()
    assert store.prune().results == 0
    batch.commit()
    assert batch.read(address) == b"shared"
    batch.discard()
    assert store.prune().blobs == 1


@pytest.mark.slow
def test_pruning_and_jobs_at_once_lose_nothing(open_limited):
    store = open_limited(total_bytes=40 * MEBIBYTE)
    stored, is_over = [], threading.Event()

    def work(name):
        stored.extend([store_result(store, f"{name} {number}", size=2000) for number in range(40)])

    def prune():
        while not is_over.is_set():
            store.prune()

    with ThreadPoolExecutor(6) as threads:
        pruners = [threads.submit(prune) for _ in range(2)]
        for worker in [threads.submit(work, name) for name in range(4)]:
            worker.result()
        is_over.set()
        for pruner in pruners:
            pruner.result()
    for record_id, text in stored:
        record = store.find(record_id)
        assert record.text(record.stage("ttir").text) == text
        assert record.text_after_pass(0) == "shared"


OTHER_PROCESS = """
import sys
from pathlib import Path
from explorer.store import open_store

store = open_store(Path(sys.argv[1]))
batch = store.batch()
address = batch.add("a text of another process")
batch.commit()
print(address, flush=True)
sys.stdin.readline()
assert batch.read(address) == b"a text of another process"
print("read", flush=True)
"""


@pytest.mark.slow
def test_the_blobs_of_another_process_are_not_removed(open_limited, tmp_path):
    store = open_limited()
    command = [sys.executable, "-c", OTHER_PROCESS, str(tmp_path)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        address = process.stdout.readline().strip()
        assert store.prune().blobs == 0
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "read\n"
    assert (tmp_path / "blobs" / f"{address}.zst").is_file()
    assert store.prune().blobs == 1  # no process uses it any more


@pytest.fixture
def full_queue(services, tmp_path, endless):
    """Return a store and its queue, with a running job and a waiting job."""
    store = open_store(tmp_path)
    runners: Runners = {"compile": [SandboxRunner(services.sandbox)]}
    queue = LocalQueue(store, runners, Metrics(), QueueLimits(1, 8))
    running = queue.submit(Request(endless, "cuda:90", services.versions[0]))
    while queue.find(running.id).status == "queued":
        time.sleep(0.01)
    queue.submit(Request("pass", "cuda:90", services.versions[0]))
    yield store, queue
    queue.close()
    store.close()


def test_what_a_full_queue_refuses_is_not_stored(full_queue, tmp_path):
    store, queue = full_queue
    sources = [f"# {os.urandom(200_000).hex()}" for _ in range(40)]

    def flood():
        for source in sources:
            with pytest.raises(QueueFull):
                queue.submit(Request(source, "cuda:90", "3.9.0"))

    before = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    threads = [threading.Thread(target=flood) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert after - before < 100_000  # of 8 MB
    assert all(store.known(Request(source, "cuda:90", "3.9.0")) is None for source in sources)


@pytest.mark.slow
def test_a_full_store_answers_507_and_opens_what_it_has(tmp_path, vector_add):
    settings = Settings(data_dir=tmp_path, slots=1, store_quota_bytes=MEBIBYTE)
    with closing(open_store(tmp_path)) as store:
        kept, _ = store_result(store, "kept", size=2 * MEBIBYTE)
        store.retain(kept, NEIGHBOR)
    app = create_app(settings)
    try:
        services_of(app).store.prune()
        client = app.test_client()
        refused = client.post("/api/v1/compilations", json={"source": vector_add, "target": "cuda:90"})
        assert refused.status_code == 507
        assert refused.get_json()["kind"] == "store_full"
        assert "TRITON_EXPLORER_STORE_QUOTA_BYTES" in refused.get_json()["detail"]
        assert refused.headers["Retry-After"]
        assert client.get(f"/api/v1/compilations/{kept}").get_json()["status"] == "complete"
        health = client.get("/healthz")
        assert health.status_code == 503
        assert health.get_json()["store"]["quota_bytes"] == MEBIBYTE
    finally:
        services_of(app).close()


def test_the_share_menu_retains(api, client, services, vector_add):
    ticket = api.compile(vector_add)
    assert client.put(f"{ticket['api']}/retention").status_code == 204
    usages = {usage.id: usage.is_retained for usage in services.store._housekeeping._usages()}
    assert usages[ticket["id"]]
    assert client.put(f"{ticket['api']}/pin").status_code == 204  # the earlier address
    assert client.put("/api/v1/compilations/123456789ABC/retention").status_code == 404


def folder_bytes(folder):
    """Return the disk space of the files of a folder, as `du` does."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def make_old(folder):
    """Let all texts be old enough to be removed beside another server."""
    hour_ago = time.time() - 3600
    for path in folder.rglob("*.zst"):
        os.utime(path, (hour_ago, hour_ago))


@pytest.mark.parametrize(
    "form", ["folder", pytest.param("s3", marks=[pytest.mark.slow, pytest.mark.nightly])]
)
def test_a_store_that_is_filled_many_times_over_stays_bounded(request, tmp_path, form):
    """Results, answers and requests without a result, in a store that other servers may share."""
    data, quota, cache = tmp_path / "data", 4 * MEBIBYTE, MEBIBYTE
    bucket, urls = data / "blobs", {}
    if form == "s3":
        database = request.getfixturevalue("postgresql").new_database()
        urls = {"database_url": database, "blobs_url": request.getfixturevalue("blobs_url")}
        bucket = request.getfixturevalue("bucket")
    with closing(open_store(data, quotas=Quotas(total_bytes=quota), cache_bytes=cache, **urls)) as store:
        kept, text = store_result(store, "retained", NEIGHBOR)
        store.retain(kept, NEIGHBOR)
        written, most, refused = 0, 0, 0
        for number in range(60):
            try:
                store.admit(ATTACKER)
            except StoreFull:
                refused += 1
                make_old(bucket)
                store.prune()
                store.admit(ATTACKER)
            record_id, _ = store_result(store, number, ATTACKER, size=400_000)
            store.answers.keep(store.find(record_id), {"own": os.urandom(50_000).hex().encode()})
            store.answers.keep(store.find(kept), {f"{number}": os.urandom(50_000).hex().encode()})
            store.submit(request_of(f"without a result {number}"), ATTACKER)
            written += 300_000
            most = max(most, folder_bytes(bucket) + (folder_bytes(data) if form == "s3" else 0))
        assert written > 4 * quota
        assert refused > 3
        assert most < 1.5 * quota + cache  # blocks of the disk, and the database
        record = store.find(kept)
        assert record.is_final
        assert record.text(record.stage("ttir").text) == text
        assert is_kept(store, store.submit(request_of(59)).id)


def test_answers_about_a_retained_result_do_not_fill_the_store(open_limited):
    store = open_limited(total_bytes=MEBIBYTE)
    kept, text = store_result(store, "retained", NEIGHBOR)
    store.retain(kept, NEIGHBOR)
    for number in range(60):
        store.answers.keep(store.find(kept), {str(number): os.urandom(20_000).hex().encode()})
    with pytest.raises(StoreFull):
        store.admit(ATTACKER)
    store.prune()
    store.admit(ATTACKER)
    record = store.find(kept)
    assert record.text(record.stage("ttir").text) == text
    assert store.answers.find(record, "0") is None
    assert not store.pruning_is_due.is_set()


@pytest.mark.slow
def test_texts_that_are_too_young_to_be_removed_cost_no_further_results(open_limited, tmp_path):
    store, other = open_limited(total_bytes=4 * MEBIBYTE), open_limited()
    other.batch().add("used by another process")  # so that young texts stay
    ids = [store_result(store, number)[0] for number in range(100)]
    store.prune()
    store.prune()
    assert sum(is_kept(store, each) for each in ids) > 50
    with pytest.raises(StoreFull):
        store.admit()
    make_old(tmp_path)
    store.prune()
    store.admit()
