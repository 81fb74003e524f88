"""What every blob store must do. A further implementation is one more line in `OPENERS`."""

from functools import partial
from threading import Thread

import pytest

from explorer.errors import StoreError
from explorer.store.address import digest_of
from explorer.store.files import FileBlobStore

#: Every implementation, as a function that opens the store of a folder.
OPENERS = [FileBlobStore]


@pytest.fixture(params=OPENERS, ids=lambda opener: opener.__name__)
def reopen(request, tmp_path):
    """Open the store of this test once more."""
    return partial(request.param, tmp_path / "blobs")


@pytest.fixture
def blobs(reopen):
    store = reopen()
    yield store
    store.close()


def stored(blobs, data):
    batch = blobs.batch()
    address = batch.add(data)
    batch.commit()
    return address


def test_a_blob_can_be_read_at_once_and_ever_after(blobs, reopen):
    batch = blobs.batch()
    address = batch.add("the text ✓")
    assert batch.read(address).decode() == "the text ✓"
    batch.commit()
    batch.discard()
    assert blobs.read(address).decode() == "the text ✓"
    again = reopen()
    assert again.read(address).decode() == "the text ✓"
    again.close()


@pytest.mark.parametrize("data", [b"", b"\x00\xff" * 1000, b"x" * 5_000_000])
def test_the_address_is_the_digest_of_the_bytes(blobs, data):
    address = stored(blobs, data)
    assert address == digest_of(data)
    assert blobs.read(address) == blobs.read_if_sound(address) == data
    assert b"".join(blobs.stream(address)) == data


def test_equal_blobs_have_one_address(blobs):
    first, second = blobs.batch(), blobs.batch()
    assert first.add("same") == first.add("same") == second.add(b"same")
    first.commit()
    second.commit()
    assert first.add("same") != first.add("other")


def test_a_batch_reads_what_was_stored_before(blobs):
    address = stored(blobs, "earlier")
    assert blobs.batch().read(address) == b"earlier"


def test_a_missing_blob_is_an_error(blobs):
    missing = digest_of(b"never added")
    with pytest.raises(StoreError, match=missing):
        blobs.read(missing)
    with pytest.raises(StoreError, match=missing):
        list(blobs.stream(missing))
    assert blobs.read_if_sound(missing) is None


def test_an_abandoned_batch_does_no_harm(blobs):
    abandoned = blobs.batch()
    address = abandoned.add("text")
    abandoned.discard()
    assert stored(blobs, "text") == address
    assert blobs.read(address) == b"text"


def test_many_writers_of_one_blob(blobs):
    data = b"x" * 1_000_000
    threads = [Thread(target=stored, args=(blobs, data)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blobs.read(digest_of(data)) == data


def test_lone_surrogates_are_stored_as_question_marks(blobs):
    batch = blobs.batch()
    assert batch.read(batch.add("a\ud800b")) == b"a?b"
