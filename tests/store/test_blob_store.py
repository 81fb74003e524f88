"""What every blob store must do. A further implementation is one more fixture in `OPENERS`."""

from functools import partial
from threading import Thread

import pytest

from explorer.errors import StoreError
from explorer.store.address import digest_of
from explorer.store.blob_compression import decompress
from explorer.store.files import FileBlobStore
from explorer.store.s3 import S3BlobStore


@pytest.fixture
def open_folder(tmp_path):
    return partial(FileBlobStore, tmp_path / "blobs")


@pytest.fixture
def open_s3(blobs_url, tmp_path):
    return partial(S3BlobStore, blobs_url, tmp_path / "cache", 10 << 20)


@pytest.fixture
def open_s3_without_copies(blobs_url, tmp_path):
    return partial(S3BlobStore, blobs_url, tmp_path / "cache", 0)


#: Every implementation, as a fixture that returns a function, which opens the store of a test.
OPENERS = [open_folder, open_s3, open_s3_without_copies]


@pytest.fixture(params=[opener.__name__ for opener in OPENERS])
def reopen(request):
    """Open the store of this test once more."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def blobs(reopen):
    store = reopen()
    yield store
    store.close()


def stored(blobs, data):
    batch = blobs.batch()
    address = batch.add(data)
    batch.commit()
    batch.discard()
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


def test_texts_are_compressed(blobs):
    data = b"%0 = arith.addi %1, %2 : i32\n" * 10_000
    address = stored(blobs, data)
    frame = blobs.read_frame(address)
    assert decompress(frame) == data
    assert list(blobs.sizes()) == [(address, len(frame))]
    assert blobs.stored_bytes(address) == blobs.used_bytes == len(frame) < 3_000


def test_what_is_not_stored_takes_no_space(blobs):
    missing = digest_of(b"never added")
    assert blobs.read_frame(missing) is None
    assert blobs.stored_bytes(missing) == 0
    assert list(blobs.sizes()) == []
    blobs.check()
    assert list(blobs.sizes()) == []
    assert blobs.free_bytes > 0


def test_a_blob_that_is_stored_again_counts_once(blobs):
    for _ in range(2):
        batch = blobs.batch()
        batch.add("text " * 100)
        size = batch.commit()
    assert blobs.used_bytes == size == blobs.stored_bytes(digest_of(b"text " * 100))


def test_what_nothing_refers_to_is_removed(blobs, reopen):
    kept, removed = stored(blobs, "kept"), stored(blobs, "removed")
    assert blobs.remove_unreferenced(lambda: {kept}) == 1
    assert blobs.used_bytes == blobs.stored_bytes(kept) > 0
    assert blobs.read_if_sound(removed) is None
    again = reopen()
    assert again.read(kept) == b"kept"
    assert again.read_if_sound(removed) is None
    again.close()


def test_the_blobs_of_a_batch_are_not_removed(blobs):
    before, meanwhile = blobs.batch(), blobs.batch()
    addresses = {before.add("before")}
    before.commit()
    other = stored(blobs, "other")
    later = stored(blobs, "meanwhile")

    def find_referenced():
        addresses.add(meanwhile.add("meanwhile"))
        meanwhile.commit()
        meanwhile.discard()
        return set()

    assert blobs.remove_unreferenced(find_referenced) == 1
    assert later in addresses
    assert {address for address, _ in blobs.sizes()} == addresses
    assert blobs.read_if_sound(other) is None
    before.discard()
    assert blobs.remove_unreferenced(set) == 2


@pytest.mark.slow
def test_blobs_that_are_written_while_they_are_removed_are_there_afterwards(blobs):
    texts = [f"text {number}" for number in range(200)]
    for text in texts:
        stored(blobs, text)
    batch = blobs.batch()
    writing = Thread(target=lambda: [batch.add(text) for text in texts])

    def find_referenced():
        writing.start()
        return set()

    blobs.remove_unreferenced(find_referenced)
    writing.join()
    batch.commit()
    assert [blobs.read_frame(digest_of(text.encode())) is not None for text in texts] == [True] * len(texts)


def test_a_removal_that_fails_changes_no_count(blobs):
    stored(blobs, "x" * 1000)
    used_bytes = blobs.used_bytes
    assert used_bytes > 0

    def fail():
        assert blobs.used_bytes == used_bytes
        raise StoreError("The database is locked.")

    with pytest.raises(StoreError, match="locked"):
        blobs.remove_unreferenced(fail)
    assert blobs.used_bytes == used_bytes


def test_only_one_process_removes_blobs(blobs, reopen):
    stored(blobs, "text")
    other = reopen()

    def find_referenced():
        with pytest.raises(StoreError, match="Another process removes"):
            other.remove_unreferenced(set)
        return set()

    assert blobs.remove_unreferenced(find_referenced) == 0, "another process may be about to refer to it"
    with other.unpruned(), pytest.raises(StoreError, match="Another process removes or backs up"):
        blobs.remove_unreferenced(set)
    other.close()
    assert blobs.remove_unreferenced(set) == 1
