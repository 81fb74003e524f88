import os
from threading import Thread

import pytest

from explorer.errors import StoreError
from explorer.store.blobs import BlobStore


@pytest.fixture
def blobs(tmp_path):
    store = BlobStore(tmp_path / "blobs")
    yield store
    store.close()


def blob_files(blobs):
    return [path for path in blobs.folder.iterdir() if path.is_file()]


def test_a_text_can_be_read_at_once_and_ever_after(blobs):
    batch = blobs.batch()
    address = batch.add("the text ✓")
    assert batch.read(address).decode() == "the text ✓"
    batch.commit()
    batch.discard()
    assert BlobStore(blobs.folder).read(address).decode() == "the text ✓"


def test_equal_texts_are_kept_once(blobs):
    first, second = blobs.batch(), blobs.batch()
    addresses = {first.add("same"), first.add("same"), second.add("same")}
    first.commit()
    second.commit()
    assert len(addresses) == 1
    assert len(blob_files(blobs)) == 1


def test_many_writers_of_one_text_do_no_harm(blobs):
    def write():
        batch = blobs.batch()
        batch.add("x" * 1_000_000)
        batch.commit()

    threads = [Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (path,) = blob_files(blobs)
    assert blobs.read(path.stem) == b"x" * 1_000_000
    assert list(blobs.incoming.iterdir()) == []


def test_texts_are_compressed(blobs):
    batch = blobs.batch()
    address = batch.add("%0 = arith.addi %1, %2 : i32\n" * 10_000)
    batch.commit()
    assert blobs.path(address).stat().st_size < 3_000


def test_a_damaged_blob_is_noticed(blobs):
    batch = blobs.batch()
    address = batch.add("precious " * 1000)
    batch.commit()
    data = bytearray(blobs.path(address).read_bytes())
    data[-2] ^= 0xFF
    blobs.path(address).write_bytes(data)
    with pytest.raises(StoreError, match="cannot be read"):
        blobs.read(address)


def test_a_missing_blob_is_an_error_of_the_store(blobs):
    with pytest.raises(StoreError):
        blobs.read("0" * 64)


def test_lone_surrogates_are_stored_as_question_marks(blobs):
    batch = blobs.batch()
    assert batch.read(batch.add("a\ud800b")) == b"a?b"


def test_what_a_killed_process_left_is_removed_after_a_day(blobs):
    old, young = blobs.incoming / "old", blobs.incoming / "young"
    old.write_text("half a blo")
    young.write_text("half a blo")
    os.utime(old, (0, 0))
    BlobStore(blobs.folder)
    assert not old.exists()
    assert young.exists()
