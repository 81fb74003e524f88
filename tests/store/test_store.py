from pathlib import Path

import pytest
from sqlalchemy import text

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
    Specialized,
    Stage,
)
from explorer.settings import Settings
from explorer.store import Store
from explorer.store import store as store_module
from explorer.store.database import SCHEMA_VERSION, open_database
from explorer.store.entries import Recorder

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
def settings(tmp_path):
    return Settings(data_dir=tmp_path)


@pytest.fixture
def store(settings):
    store = Store(settings)
    yield store
    store.close()


def finish(store, record, events=EVENTS):
    batch = store.batch()
    recorder = Recorder(batch)
    store.finish(record.id, [recorder.record(event) for event in events], batch)


def test_a_request_is_known_from_its_submission_on(store):
    record = store.submit(REQUEST)
    assert len(record.id) == 12
    found = store.find(record.id)
    assert (found.status, found.request, found.entries) == ("queued", REQUEST, ())
    assert store.submit(REQUEST).id == record.id
    assert store.submit(REQUEST).created == record.created


def test_an_unknown_id_is_not_found(store):
    with pytest.raises(NotFound, match="Check the link"):
        store.find("123456789ABC")


def test_a_result_survives_a_restart(settings, store):
    record = store.submit(REQUEST)
    finish(store, record)
    store.close()
    store = Store(settings)
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


def test_what_was_found_out_is_kept_with_the_result(settings, store):
    record = store.submit(REQUEST)
    store.keep_finding(record, "how many?", b"[1]")
    assert store.finding(record, "how many?") is None
    finish(store, record)
    record = store.find(record.id)
    store.keep_finding(record, "how many?", b"[2]")
    assert store.finding(record, "how many?") == b"[2]"
    assert store.finding(record, "how much?") is None
    again = Store(settings)
    assert again.finding(again.find(record.id), "how many?") == b"[2]"
    again.close()


def test_a_result_with_a_forged_journal_does_not_answer_for_another(store):
    record = store.submit(REQUEST)
    forged = store.submit(Request("the same events, for another target", "hip:gfx942", "3.9.0"))
    finish(store, record)
    finish(store, forged)
    record, forged = store.find(record.id), store.find(forged.id)
    assert record.journal == forged.journal
    store.keep_finding(forged, "how many?", b"[666]")
    assert store.finding(record, "how many?") is None


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"\x00" * 9), lambda path: path.write_bytes(b""), Path.unlink]
)
def test_a_damaged_finding_is_found_out_again(settings, store, damage):
    record = store.submit(REQUEST)
    finish(store, record)
    record = store.find(record.id)
    before = set((settings.data_dir / "blobs").glob("*.zst"))
    store.keep_finding(record, "how many?", b"[2]")
    (blob,) = set((settings.data_dir / "blobs").glob("*.zst")) - before
    damage(blob)
    assert store.finding(record, "how many?") is None
    store.keep_finding(record, "how many?", b"[2]")
    assert store.finding(record, "how many?") == b"[2]"


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


def test_requests_whose_ids_begin_alike_get_longer_ones(store, monkeypatch):
    monkeypatch.setattr(store_module, "SHORTEST_ID", 1)
    requests = [Request(str(number), "cuda:90", "3.9.0") for number in range(200)]
    records = [store.submit(request) for request in requests]
    assert len({record.id for record in records}) == len(requests)
    assert {len(record.id) for record in records} >= {1, 2}
    assert [store.find(record.id).request for record in records] == requests
    assert [store.submit(request).id for request in requests] == [record.id for record in records]


def test_nothing_is_visible_of_a_result_that_is_not_finished(settings, store):
    record = store.submit(REQUEST)
    batch = store.batch()
    recorder = Recorder(batch)
    for event in EVENTS[:-1]:
        recorder.record(event)
    batch.commit()
    other = Store(settings)
    assert other.find(record.id).status == "queued"
    assert other.find(record.id).entries == ()
    other.close()


def test_tables_of_a_newer_version_are_left_alone(tmp_path):
    url = f"sqlite:///{tmp_path / 'explorer.sqlite'}"
    engine = open_database(url)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE schema SET version = {SCHEMA_VERSION + 1}"))
    engine.dispose()
    with pytest.raises(StoreError, match="another data folder"):
        open_database(url)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=str(tmp_path)):
        Store(Settings(data_dir=tmp_path / "file"))


def test_a_pass_with_a_high_number_is_found_at_once(store):
    record = store.submit(REQUEST)
    late = Pass(9_000_000, "ttir", "late", "Late", (), 1.0)
    finish(store, record, [*EVENTS[:-1], late, EVENTS[-1]])
    assert store.find(record.id).text_after_pass(9_000_000) == store.find(record.id).text_after_pass(2)
