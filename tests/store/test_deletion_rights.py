import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import select

from explorer.errors import Forbidden, NotFinished, NotFound
from explorer.model import Done, Request
from explorer.store import open_store
from explorer.store.database import open_database
from explorer.store.deletion_rights import DeletionRight, holder_of, new_token
from explorer.store.tables import DeletionRightRow

REQUEST = Request("source", "cuda:90", "3.9.0")
ANNA, BERT = (holder_of(new_token()) for _ in range(2))


@pytest.fixture
def store(tmp_path, database_url):
    with closing(open_store(tmp_path, database_url)) as store:
        yield store


def submit(store, holder, client="anna", request=REQUEST, *, is_new=False):
    """Submit a request and let its job finish. Return the record and the right."""
    right = DeletionRight(holder, is_new)
    record = store.submit(request, client, right=right)
    store.finish(record.id, (Done("complete", 1.0),), store.batch())
    return record, right


def test_the_only_one_who_submitted_a_result_removes_it(store):
    record, right = submit(store, ANNA)
    revision = store.revision
    assert right.is_granted
    assert store.delete([record.id], ANNA, "anna").removed == {record.id}
    assert store.revision > revision, "what the server keeps in memory is still valid"
    assert store.known(REQUEST) is None
    with pytest.raises(NotFound):
        store.find(record.id)
    with pytest.raises(NotFound):
        store.delete([record.id], ANNA, "anna")


def test_the_texts_of_a_removed_result_are_removed_soon(store):
    record, _ = submit(store, ANNA)
    store.prune()
    assert not store.pruning_is_due.is_set()
    store.delete([record.id], ANNA, "anna")
    assert store.pruning_is_due.is_set()
    assert store.prune().blobs == 1  # the journal


def test_a_result_stays_as_long_as_somebody_else_has_submitted_it(store):
    record, _ = submit(store, ANNA)
    submit(store, BERT, "bert")
    assert store.delete([record.id], ANNA, "anna").kept == {record.id}
    assert store.find(record.id).status == "complete"
    with pytest.raises(Forbidden):
        store.delete([record.id], ANNA, "anna")
    assert store.delete([record.id], BERT, "bert").removed == {record.id}


def test_a_result_stays_if_others_have_submitted_it_without_a_token(store):
    record, _ = submit(store, ANNA)
    _, right = submit(store, BERT, "bert", is_new=True)
    assert not right.is_granted, "the token of a second submission deletes what was there before"
    with pytest.raises(Forbidden):
        store.delete([record.id], BERT, "bert")
    assert store.delete([record.id], ANNA, "anna").kept == {record.id}


def test_who_submits_again_without_a_token_does_not_lock_the_own_result(store):
    record, right = submit(store, ANNA, is_new=True)
    assert right.is_granted
    submit(store, BERT, "anna", is_new=True)
    assert store.delete([record.id], ANNA, "anna").removed == {record.id}


def test_what_somebody_else_has_retained_stays(store):
    record, _ = submit(store, ANNA)
    store.retain(record.id, "bert")
    assert store.delete([record.id], ANNA, "anna").kept == {record.id}
    assert store.find(record.id).status == "complete"


def test_what_one_has_retained_oneself_is_removed(store):
    record, _ = submit(store, ANNA)
    store.retain(record.id, "anna")
    assert store.delete([record.id], ANNA, "anna").removed == {record.id}


def test_a_result_stays_for_the_run_of_somebody_else(store):
    record, _ = submit(store, ANNA)
    own, _ = submit(store, ANNA, request=replace(REQUEST, task="lineage"))
    other, _ = submit(store, BERT, "bert", request=replace(REQUEST, task="llvm-passes"))
    deleted = store.delete([record.id, own.id, other.id], ANNA, "anna")
    assert (deleted.removed, deleted.kept) == ({own.id}, {record.id, other.id})
    assert store.find(record.id).status == "complete"


def test_a_job_at_work_is_not_removed(store):
    record = store.submit(REQUEST, "anna", right=DeletionRight(ANNA))
    with pytest.raises(NotFinished):
        store.delete([record.id], ANNA, "anna")
    store.leases.release(record.id)
    assert store.delete([record.id], ANNA, "anna").removed == {record.id}


def test_tokens_are_not_stored(store, database_url, tmp_path):
    token = new_token()
    submit(store, holder_of(token))
    engine = open_database(database_url or f"sqlite:///{tmp_path}/explorer.sqlite")
    with engine.connect() as connection:
        holders = set(connection.scalars(select(DeletionRightRow.holder)))
    engine.dispose()
    assert holders == {holder_of(token)}
    assert token not in holders


@pytest.mark.slow
def test_a_result_that_is_submitted_while_it_is_deleted_is_there_or_new(store):
    """No answer names a removed result."""
    both = threading.Barrier(2)

    def delete(record):
        both.wait()
        return store.delete([record.id], ANNA, "anna")

    def submit_again():
        both.wait()
        return store.submit(REQUEST, "bert", right=DeletionRight(BERT))

    with ThreadPoolExecutor(2) as threads:
        for _ in range(10):
            record, _ = submit(store, ANNA)
            deleting, submitting = threads.submit(delete, record), threads.submit(submit_again)
            deleting.result()
            found = store.find(submitting.result().id)
            store.leases.release(found.id)
            assert store.delete([found.id], BERT, "bert").removed == {found.id}


def test_private_results_are_listed_for_who_has_submitted_them(store):
    def submit_private(source, **options):
        request = Request(source, "cuda:90", "3.9.0", private="0" * 32)
        return store.submit(request, "anna", right=DeletionRight(ANNA), **options)

    submit(store, ANNA)
    first, second = submit_private("one"), submit_private("two")
    live = submit_private("typed", is_live=True)
    assert [each.id for each in store.private_results(ANNA, 10)] == [second.id, first.id]
    assert [each.id for each in store.private_results(ANNA, 1, second.created)] == [first.id]
    assert store.private_results(BERT, 10) == []
    store.keep(live.id)
    assert store.private_results(ANNA, 1)[0].id == live.id
