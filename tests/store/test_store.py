from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from explorer.errors import NotFound, StoreError
from explorer.model import (
    Diagnostic,
    Done,
    Frame,
    Inspection,
    Location,
    Log,
    Pass,
    Request,
    Resources,
    Run,
    Specialized,
    Stage,
)
from explorer.store import database, open_store
from explorer.store.database import open_database
from explorer.store.entry_writer import EntryWriter
from explorer.store.tables import UsageRow

REQUEST = Request("source", "cuda:90", "3.9.0")
EVENTS = (
    Inspection((), ()),
    Specialized("kernel", 3, "triton", (), {"num_warps": 4}, "*fp32:16"),
    Stage("ttir", "TTIR", "ttir", 1.5, "a\nb\n", "raw a\n", (Location((Frame("", 3),)),), ((0,), ())),
    Pass(0, "ttgir", "make", "Make", (), 0.5, "one\ntwo\n"),
    Pass(1, "ttgir", "nothing", "Nothing", (1, "x"), 0.25),
    Pass(2, "ttgir", "change", "Change", (), 0.5, "one\nthree\n"),
    Resources(registers=32),
    Log("ptxas", "first "),
    Log("ptxas", "second"),
    Diagnostic("warning", "careful", line=3),
    Done("complete", 12.5),
)


@pytest.fixture
def reopen(tmp_path, database_url):
    """Return a function that opens the store of this test once more, until the test ends."""
    with ExitStack() as stores:
        yield lambda: stores.enter_context(closing(open_store(tmp_path, database_url)))


@pytest.fixture
def store(reopen):
    return reopen()


def finish(store, record, events=EVENTS):
    batch = store.batch()
    writer = EntryWriter(batch)
    store.finish(record.id, [writer.write(event) for event in events], batch)


def test_a_request_is_known_from_its_submission_on(store):
    record = store.submit(REQUEST)
    assert len(record.id) == 12
    found = store.find(record.id)
    assert (found.status, found.request, found.entries) == ("queued", REQUEST, ())
    assert store.submit(REQUEST).id == record.id
    assert store.submit(REQUEST).created == record.created


@pytest.mark.parametrize("unknown", ["123456789ABC", "", "\0", "\ud800"])
def test_an_unknown_id_is_not_found(store, unknown):
    with pytest.raises(NotFound, match="Check the link"):
        store.find(unknown)


def test_a_result_survives_a_restart(reopen, store):
    record = store.submit(REQUEST)
    finish(store, record)
    store.close()
    store = reopen()
    found = store.find(record.id)
    result = found.result
    assert found.status == "complete"
    assert found.is_final
    assert result.specialized == EVENTS[1]
    assert found.text(found.stage("ttir").text) == "a\nb\n"
    assert found.text(found.stage("ttir").raw) == "raw a\n"
    assert (found.stage("ttir").lines, found.stage("ttir").bytes) == (2, 4)
    assert result.resources == EVENTS[6]
    assert result.logs == {"ptxas": ["first ", "second"]}
    assert result.diagnostics == [EVENTS[9]]
    assert result.done == EVENTS[10]


def test_a_pass_that_changed_nothing_shows_what_was_there(store):
    record = store.submit(REQUEST)
    finish(store, record)
    record = store.find(record.id)
    assert [record.text_after_pass(index) for index in range(3)] == [
        "one\ntwo\n",
        "one\ntwo\n",
        "one\nthree\n",
    ]
    assert [record.text_before_pass(index) for index in range(3)] == ["", "one\ntwo\n", "one\ntwo\n"]


def test_what_was_found_out_is_kept_with_the_result(reopen, store):
    record = store.submit(REQUEST)
    store.answers.keep(record, {"how many?": b"[1]"})
    assert store.answers.find(record, "how many?") is None
    finish(store, record)
    record = store.find(record.id)
    store.answers.keep(record, {"how many?": b"[2]"})
    assert store.answers.find(record, "how many?") == b"[2]"
    assert store.answers.find(record, "how much?") is None
    again = reopen()
    assert again.answers.find(again.find(record.id), "how many?") == b"[2]"


def test_many_answers_are_read_as_single_ones_are(store):
    record = store.submit(REQUEST)
    assert store.answers.reader(record)("0?") is None
    finish(store, record)
    record = store.find(record.id)
    early = store.answers.reader(record)
    store.answers.keep(record, {f"{number}?": f"[{number}]".encode() for number in range(100)})
    store.answers.keep(record, {"7?": b"[77]"})
    read = store.answers.reader(record)
    assert [read(f"{number}?") for number in range(101)] == [
        store.answers.find(record, f"{number}?") for number in range(101)
    ]
    assert (read("7?"), read("8?"), read("100?"), early("7?")) == (b"[77]", b"[8]", None, None)


def test_equal_answers_may_be_stored_at_the_same_time(store):
    record = store.submit(REQUEST)
    finish(store, record)
    record = store.find(record.id)
    with ThreadPoolExecutor(4) as threads:
        for number in range(5):
            calls = [threads.submit(store.answers.keep, record, {f"{number}?": b"[1]"}) for _ in range(4)]
            for call in calls:
                call.result()
    assert store.answers.find(record, "4?") == b"[1]"


def test_a_result_with_a_forged_journal_does_not_answer_for_another(store):
    record = store.submit(REQUEST)
    forged = store.submit(Request("the same events, for another target", "hip:gfx942", "3.9.0"))
    finish(store, record)
    finish(store, forged)
    record, forged = store.find(record.id), store.find(forged.id)
    assert record.journal == forged.journal
    store.answers.keep(forged, {"how many?": b"[666]"})
    assert store.answers.find(record, "how many?") is None


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"\x00" * 9), lambda path: path.write_bytes(b""), Path.unlink]
)
def test_a_damaged_answer_is_computed_again(tmp_path, store, damage):
    record = store.submit(REQUEST)
    finish(store, record)
    record = store.find(record.id)
    before = set((tmp_path / "blobs").glob("*.zst"))
    store.answers.keep(record, {"how many?": b"[2]"})
    (blob,) = set((tmp_path / "blobs").glob("*.zst")) - before
    damage(blob)
    assert store.answers.find(record, "how many?") is None
    store.answers.keep(record, {"how many?": b"[2]"})
    assert store.answers.find(record, "how many?") == b"[2]"


def test_a_final_result_is_never_replaced(store):
    record = store.submit(REQUEST)
    finish(store, record)
    finish(store, record, (Done("failed", 1.0),))
    assert store.find(record.id).status == "complete"


def test_a_transient_failure_gives_way_to_the_next_attempt(store):
    record = store.submit(REQUEST)
    finish(store, record, (Diagnostic("error", "too slow"), Done("failed", 1.0, is_transient=True)))
    found = store.find(record.id)
    assert found.is_finished
    assert not found.is_final
    finish(store, record)
    assert store.find(record.id).is_final


@pytest.mark.slow
def test_requests_whose_ids_begin_alike_get_longer_ones(store, monkeypatch):
    monkeypatch.setattr("explorer.store.address.SHORTEST_ID", 1)
    requests = [Request(str(number), "cuda:90", "3.9.0") for number in range(200)]
    records = [store.submit(request) for request in requests]
    assert len({record.id for record in records}) == len(requests)
    assert {len(record.id) for record in records} >= {1, 2}
    assert [store.find(record.id).request for record in records] == requests
    assert [store.submit(request).id for request in requests] == [record.id for record in records]


def test_nothing_is_visible_of_a_result_that_is_not_finished(reopen, store):
    record = store.submit(REQUEST)
    batch = store.batch()
    writer = EntryWriter(batch)
    for event in EVENTS[:-1]:
        writer.write(event)
    batch.commit()
    other = reopen()
    assert other.find(record.id).status == "queued"
    assert other.find(record.id).entries == ()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=str(tmp_path)):
        open_store(tmp_path / "file")


def test_a_pass_with_a_high_number_is_found_at_once(store):
    record = store.submit(REQUEST)
    late = Pass(9_000_000, "ttir", "late", "Late", (), 1.0)
    finish(store, record, [*EVENTS[:-1], late, EVENTS[-1]])
    assert store.find(record.id).text_after_pass(9_000_000) == store.find(record.id).text_after_pass(2)


def make_old(database_url, hours):
    """Let all results of a store have been used last some hours ago."""
    engine = open_database(database_url)
    with engine.begin() as connection:
        connection.execute(update(UsageRow).values(used=datetime.now(UTC) - timedelta(hours=hours)))
    engine.dispose()


def test_live_results_are_removed_early(store, database_url):
    def stored(source, *, is_live, events=EVENTS):
        record = store.submit(replace(REQUEST, source=source), is_live=is_live)
        finish(store, record, events)
        return record.id

    failed = stored("failed", is_live=True, events=[EVENTS[0], Done("failed", 1.0)])
    forgotten = stored("live", is_live=True)
    kept = [
        stored("by hand", is_live=False),
        *(stored(f"live {number}", is_live=True) for number in range(3)),
    ]
    store.keep(kept[1])
    store.retain(kept[2], "somebody")
    store.submit(replace(REQUEST, source="live 2"))
    store.write_uses()
    revision = store.revision
    assert store.prune().results == 0, "they are young"
    assert store.revision == revision
    make_old(database_url, 3)
    assert not store.pruning_is_due.is_set()
    store.write_uses()
    assert store.pruning_is_due.is_set()
    removed = store.prune()
    assert (removed.results, removed.requests) == (2, 1)
    assert store.revision > revision, "what the server keeps in memory is still valid"
    assert not store.pruning_is_due.is_set()
    assert store.find(forgotten).status == "queued", "its address computes it again"
    with pytest.raises(NotFound):
        store.find(failed)
    assert [store.find(each).status for each in kept] == ["complete"] * 4


@pytest.mark.slow
def test_a_list_of_runs_needs_one_connection(tmp_path, postgresql, monkeypatch):
    monkeypatch.setitem(database._POSTGRESQL, "pool_size", 1)
    monkeypatch.setitem(database._POSTGRESQL, "pool_timeout", 0.5)
    with closing(open_store(tmp_path, postgresql.new_database())) as store:
        request = replace(REQUEST, task="run", run=Run("interpreter"))
        finish(store, store.submit(request), [Done("complete", 1.0)])
        for path in (tmp_path / "blobs").glob("*.zst"):
            path.unlink()
        (found,) = store.runs(REQUEST, 1)
        assert found.status == "queued", "its text is lost"
        assert store.statistics().all.results == 0, "it is computed again when it is opened"
