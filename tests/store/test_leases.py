"""Two workers with one database: each job has one owner, which learns who has canceled it elsewhere."""

from contextlib import closing

import pytest

from explorer.model import Diagnostic, Done, Log, Request
from explorer.store import leases, open_store, sql
from explorer.store.entry_writer import EntryWriter
from explorer.store.tables import FailureRow

REQUEST = Request("source", "cuda:90", "3.9.0")
ENTRIES = [Log("stdout", str(number)) for number in range(3)]


def owner_of(store, record):
    return store.leases.published(record.id)[0]


def acquire(store, record):
    """Take a lease, as a worker does with the lease of the next job."""
    with store._database.writing() as session:
        return store.leases.take(session, record.id)


def finish(store, record):
    batch = store.batch()
    store.finish(record.id, [EntryWriter(batch).write(Done("failed", 1.0, is_transient=True))], batch)


def test_a_job_has_one_owner_until_it_is_finished(stores):
    first, second = stores
    record = first.submit(REQUEST)
    assert second.submit(REQUEST).id == record.id
    assert acquire(first, record)
    assert not acquire(second, record)
    assert owner_of(second, record)
    finish(first, record)
    assert not owner_of(second, record)
    assert acquire(second, record)
    assert not acquire(first, record)


def test_a_server_that_does_all_jobs_takes_the_lease_of_one_that_was_killed(stores):
    killed, second = stores
    record = killed.submit(REQUEST)
    second.leases.seize(record.id)
    assert owner_of(second, record) == second.leases.server
    finish(killed, record)
    assert not second.find(record.id).is_finished


def test_a_server_that_stops_gives_its_jobs_back(stores):
    first, second = stores
    record = first.submit(REQUEST)
    first.close()
    assert acquire(second, record)


def test_a_job_of_a_server_that_has_ended_without_a_word_is_taken_over(stores, monkeypatch):
    first, second = stores
    with monkeypatch.context() as patch:
        patch.setattr(leases, "LEASE_SECONDS", 0.0)
        record = first.submit(REQUEST)
    assert acquire(second, record)
    assert first.leases.renew([record.id]) == {}
    finish(first, record)  # it had not ended after all
    assert owner_of(second, record)
    assert not second.find(record.id).is_finished, "the result of the one that has taken it over counts"
    finish(second, record)
    assert second.find(record.id).is_finished


def test_a_lease_is_renewed(stores, monkeypatch):
    first, second = stores
    monkeypatch.setattr(leases, "LEASE_SECONDS", -1.0)
    record = first.submit(REQUEST)
    assert not owner_of(second, record)
    monkeypatch.undo()
    first.leases.renew([record.id])
    assert owner_of(second, record)


def test_an_owner_learns_once_who_has_left_its_job_elsewhere(stores):
    first, second = stores
    record = first.submit(REQUEST)
    for follower in ("one", "two", "one", "o"):
        second.leases.leave(record.id, follower)
    first.leases.leave(record.id, "of the owner itself")
    assert first.leases.renew([record.id]) == {record.id: ["one", "two", "o"]}
    assert first.leases.renew([record.id]) == {}


@pytest.mark.slow
def test_entries_are_published_while_a_job_is_not_finished(tmp_path, postgresql):
    url = postgresql.new_database()
    with closing(open_store(tmp_path, url)) as first, closing(open_store(tmp_path, url)) as second:
        record = first.submit(REQUEST)
        with second.leases.listening() as wait:
            first.leases.publish(record.id, 0, ENTRIES[:2])
            assert wait(30) == {record.id}
            owner = first.leases.server
            assert second.leases.published(record.id) == (owner, tuple(ENTRIES[:2]))
            first.leases.publish(record.id, 2, ENTRIES[2:])
            assert wait(30) == {record.id}
            assert second.leases.published(record.id, owner, 2) == (owner, (ENTRIES[2],))
            assert second.leases.published(record.id, "an earlier one", 2) == (owner, tuple(ENTRIES))
            first.leases.publish(record.id, 2, [ENTRIES[2], ENTRIES[0]])  # it did not learn that it had
            assert second.leases.published(record.id, owner, 3) == (owner, (ENTRIES[0],))
            assert second.leases.published(record.id) == (owner, (*ENTRIES, ENTRIES[0]))
            second.leases.publish(record.id, 4, ENTRIES[2:])  # it is not the owner
            assert second.leases.published(record.id, owner, 4) == (owner, ())
            finish(first, record)
            assert wait(30) == {record.id}
            assert second.leases.published(record.id) == (None, ())


REASON = Diagnostic("error", "The store cannot be used.", hint="It is full.")


def test_why_a_result_could_not_be_stored_is_known_everywhere_until_the_job_is_started_again(stores):
    first, second = stores
    record = first.submit(REQUEST)
    first.fail(record.id, REASON, 5.0)
    failed = second.find(record.id)
    assert failed.entries == (REASON, Done("failed", 5.0, is_transient=True))
    assert (failed.status, failed.is_final, owner_of(second, record)) == ("failed", False, None)
    assert acquire(second, record)
    second.leases.forget_failure(record.id)
    assert first.find(record.id).status == "queued"
    second.fail(record.id, REASON, 5.0)  # once more
    assert first.find(record.id).status == "failed"


def test_why_a_result_could_not_be_stored_is_forgotten_after_some_seconds(stores, monkeypatch):
    first, second = stores
    monkeypatch.setattr(sql, "FAILURE_SECONDS", -1.0)
    record = first.submit(REQUEST)
    first.fail(record.id, REASON, 5.0)
    assert second.find(record.id).status == "queued"
    second.prune()
    with second._database.reading() as session:
        assert session.get(FailureRow, record.id) is None
    monkeypatch.undo()
    assert acquire(second, record)
    second.fail(record.id, REASON, 5.0)
    second.delete([record.id], None, "")
    assert first.submit(REQUEST).status == "queued"


def test_a_failure_of_a_late_server_does_not_count(stores, monkeypatch):
    first, second = stores
    with monkeypatch.context() as patch:
        patch.setattr(leases, "LEASE_SECONDS", 0.0)
        record = first.submit(REQUEST)
    assert acquire(second, record)
    finish(second, record)
    second.leases.forget_failure(record.id)  # it is started again, and waits
    first.fail(record.id, REASON, 5.0)
    finish(first, record)
    assert second.find(record.id).status == "queued"
