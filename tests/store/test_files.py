import os
import time
from threading import Event, Thread

import pytest

from explorer.errors import StoreError
from explorer.store.files import FileBlobStore


@pytest.fixture
def blobs(tmp_path):
    store = FileBlobStore(tmp_path / "blobs")
    yield store
    store.close()


def blob_files(blobs):
    return [path for path in blobs.folder.iterdir() if path.is_file()]


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


def test_a_damaged_blob_is_noticed(blobs):
    batch = blobs.batch()
    address = batch.add("precious " * 1000)
    batch.commit()
    data = bytearray(blobs.path(address).read_bytes())
    data[-2] ^= 0xFF
    blobs.path(address).write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        list(blobs.stream(address))
    with pytest.raises(StoreError, match="damaged"):
        blobs.read(address)


def test_what_a_killed_process_left_is_removed_after_a_day(blobs):
    old, young = blobs.incoming / "old", blobs.incoming / "young"
    old.write_text("half a blo")
    young.write_text("half a blo")
    os.utime(old, (0, 0))
    FileBlobStore(blobs.folder)
    assert not old.exists()
    assert young.exists()


def test_a_store_opens_while_another_process_removes_blobs_and_writes_after_that(blobs):
    opened: list[FileBlobStore] = []
    written: list[str] = []
    ends = Event()

    def open_and_write():
        store = FileBlobStore(blobs.folder)
        opened.append(store)
        batch = store.batch()
        address = batch.add("new")
        batch.commit()
        written.append(address)
        store.close()

    def find_referenced():
        starting.start()
        assert _becomes(lambda: len(opened) == 1)  # it can read
        assert not list(blobs.folder.glob("*.zst"))
        ends.set()
        return set()

    starting = Thread(target=open_and_write)
    blobs.remove_unreferenced(find_referenced)
    starting.join(30)
    assert ends.is_set()
    assert blobs.read(written[0]) == b"new"


def _becomes(condition):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
