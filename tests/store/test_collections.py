"""Test sessions and matrices in a new store on each database."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from explorer.errors import Forbidden, NotFound, StoreFull
from explorer.model import Request
from explorer.store import Quotas, open_store
from explorer.store.address import LONGEST_ID, PRIVATE_ID, SHORTEST_ID
from explorer.store.deletion_rights import DeletionRight, holder_of, new_token
from explorer.store.tables import UsageRow

ANNA, BERT = (holder_of(new_token()) for _ in range(2))
CONTENT = b'{"title":"A program"}'


@pytest.fixture
def open_one(tmp_path, database_url):
    stores = []

    def open_one(**quotas):
        stores.append(open_store(tmp_path, database_url, Quotas(**quotas)))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def store(open_one):
    return open_one()


def test_equal_collections_are_stored_once(store):
    first = store.collections.put("session", CONTENT, "", "anna")
    assert store.collections.put("session", CONTENT, "", "bert") == first
    assert store.collections.find(first.id) == first
    others = [
        store.collections.put("matrix", CONTENT, "", "anna"),
        store.collections.put("session", CONTENT + b" ", "", "anna"),
        store.collections.put("session", CONTENT, "secret", "anna"),
    ]
    assert len({each.id for each in (first, *others)}) == 4
    assert len(first.id) == SHORTEST_ID
    assert len(others[-1].id) == PRIVATE_ID
    for missing in ("123456789ABC", "no\0id"):
        with pytest.raises(NotFound):
            store.collections.find(missing)


def test_a_collection_and_a_request_never_share_an_id(store, monkeypatch):
    monkeypatch.setattr("explorer.store.address.base58", lambda _: "1" * LONGEST_ID)
    stored = store.collections.put("session", CONTENT, "", "anna")
    record = store.submit(Request("source", "cuda:90", "3.9.0"))
    later = store.collections.put("session", CONTENT + b" ", "", "anna")
    assert [len(each.id) for each in (stored, record, later)] == [SHORTEST_ID + extra for extra in range(3)]
    assert store.collections.find(stored.id).content == CONTENT
    assert store.find(record.id).request.source == "source"


def test_a_collection_is_deleted_by_its_last_submitter(store):
    stored = store.collections.put("matrix", CONTENT, "", "anna", DeletionRight(ANNA))
    store.collections.put("matrix", CONTENT, "", "bert", DeletionRight(BERT))
    assert store.delete([stored.id], ANNA, "anna").kept == {stored.id}
    with pytest.raises(Forbidden):
        store.delete([stored.id], ANNA, "anna")
    assert store.delete([stored.id], BERT, "bert").removed == {stored.id}
    with pytest.raises(NotFound):
        store.collections.find(stored.id)
    assert store.collections.put("matrix", CONTENT, "", "anna").id == stored.id


def test_the_private_collections_of_a_holder_are_listed(store):
    own = store.collections.put("session", CONTENT, "secret", "anna", DeletionRight(ANNA))
    store.collections.put("session", CONTENT, "", "anna", DeletionRight(ANNA))
    store.collections.put("session", CONTENT, "other", "bert", DeletionRight(BERT))
    assert store.collections.private(ANNA, 10) == [own]
    assert store.collections.private(ANNA, 10, own.created) == []
    assert store.private_key(own.id) == "secret"


def test_a_quota_counts_collections_and_removes_the_oldest(open_one):
    store = open_one(client_bytes=2000)
    stored = store.collections.put("session", CONTENT, "", "anna")
    with pytest.raises(StoreFull):
        for number in range(10):
            store.collections.put("session", CONTENT + b" " * number, "", "anna")
    with store._database.writing() as session:
        long_ago = stored.created - timedelta(days=2)
        session.execute(update(UsageRow).where(UsageRow.id == stored.id).values(used=long_ago))
    store.prune()
    with pytest.raises(NotFound):
        store.collections.find(stored.id)
    store.collections.put("session", CONTENT, "", "anna")
