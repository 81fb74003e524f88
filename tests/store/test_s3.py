"""Blobs in an S3 store: copies in a bounded folder, and failures that say what to do."""

import logging
import os
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from explorer.errors import DamagedText, SettingsError, StoreError, StoreFull
from explorer.store import Quotas, open_store, s3, s3_objects
from explorer.store.address import digest_of
from explorer.store.cache import BlobCache
from explorer.store.s3 import S3BlobStore
from explorer.store.s3_objects import S3Location, S3Objects

MISSING = digest_of(b"never added")


@pytest.fixture
def open_s3(tmp_path):
    """Return a function that opens a store, with copies in the folder `cache`."""
    stores = []

    def open_one(url, cache_bytes=10 << 20, **options):
        stores.append(S3BlobStore(url, tmp_path / "cache", cache_bytes, **options))
        return stores[-1]

    yield open_one
    for store in stores:
        store.close()


@pytest.fixture
def cache(tmp_path):
    (tmp_path / "cache").mkdir()
    return BlobCache(tmp_path / "cache", 1000)


def stored(blobs, data):
    batch = blobs.batch()
    address = batch.add(data)
    batch.commit()
    batch.discard()
    return address


def damage(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def copies(tmp_path):
    return [path for path in (tmp_path / "cache").iterdir() if path.suffix == ".zst"]


def test_what_was_written_is_read_from_the_copy(open_s3, faulty_url, proxy):
    blobs = open_s3(faulty_url)
    address = stored(blobs, "text")
    proxy.requests.clear()
    assert blobs.read(address) == b"".join(blobs.stream(address)) == b"text"
    assert proxy.requests == []


def test_what_was_read_once_is_read_from_the_copy(open_s3, faulty_url, proxy, tmp_path):
    address = stored(open_s3(faulty_url, 0), "text")
    assert copies(tmp_path) == []
    blobs = open_s3(faulty_url)
    proxy.requests.clear()
    assert [blobs.read(address) for _ in range(3)] == [b"text"] * 3
    assert proxy.requests == ["GET"]


@pytest.mark.parametrize(
    "harm", [damage, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"x")]
)
def test_a_damaged_copy_is_read_again(open_s3, faulty_url, proxy, tmp_path, harm):
    blobs = open_s3(faulty_url)
    address = stored(blobs, "precious " * 1000)
    for read in (blobs.read, lambda address: b"".join(blobs.stream(address))):
        (copy,) = copies(tmp_path)
        harm(copy)
        proxy.requests.clear()
        assert read(address) == read(address) == b"precious " * 1000
        assert proxy.requests == ["GET"]


def test_a_damaged_object_is_found_and_written_again(open_s3, blobs_url, bucket):
    blobs = open_s3(blobs_url, 0)
    address = stored(blobs, "precious " * 1000)
    damage(bucket / "texts" / f"{address}.zst")
    assert blobs.read_frame(address) is None
    with pytest.raises(DamagedText, match=address):
        blobs.read(address)
    assert stored(blobs, "precious " * 1000) == address
    assert blobs.read(address) == b"precious " * 1000


def test_a_torn_object_is_written_again_before_anybody_reads_it(open_s3, blobs_url, bucket):
    blobs = open_s3(blobs_url, 0)
    address = stored(blobs, "precious " * 1000)
    (bucket / "texts" / f"{address}.zst").write_bytes(b"x")
    assert stored(blobs, "precious " * 1000) == address
    assert blobs.read(address) == b"precious " * 1000


def test_an_old_object_is_written_again_and_a_young_one_is_not_removed(
    open_s3, faulty_url, proxy, monkeypatch
):
    blobs = open_s3(faulty_url, is_shared=True)
    for _ in range(2):
        stored(blobs, "text")  # the second time, the clock of the S3 store is read
    proxy.requests.clear()
    stored(blobs, "text")
    assert "PUT" not in proxy.requests
    assert blobs.remove_unreferenced(set) == 0, "another server may be about to refer to it"
    monkeypatch.setattr(s3, "_YOUNG", timedelta(seconds=-2))  # its clock shows whole seconds
    stored(blobs, "text")
    assert "PUT" in proxy.requests
    assert blobs.remove_unreferenced(set) == 1
    assert list(blobs.sizes()) == []


@pytest.mark.parametrize(("missing", "is_known"), [(2, True), (3, False)])
def test_the_clock_is_read_although_others_replace_the_object(blobs_url, monkeypatch, missing, is_known):
    head, calls = S3Objects.head, iter(range(missing))
    monkeypatch.setattr(
        S3Objects, "head", lambda self, name: None if next(calls, None) is not None else head(self, name)
    )
    objects = S3Objects(S3Location.of(blobs_url))
    if is_known:
        assert abs((objects.now() - datetime.now(UTC)).total_seconds()) < 60
    else:
        with pytest.raises(StoreError, match="has lost the object"):
            objects.now()


def test_copies_take_no_more_than_their_space(cache, tmp_path):
    for number in range(100):
        cache.write(digest_of(bytes([number])), bytes(90))
        assert sum(path.stat().st_size for path in copies(tmp_path)) <= 1000
    assert cache.read(digest_of(bytes([99]))) == bytes(90)
    cache.write(MISSING, bytes(1001))
    assert cache.read(MISSING) is None
    again = BlobCache(tmp_path / "cache", 500)
    again.write(MISSING, bytes(90))
    assert again.read(MISSING) == bytes(90)
    assert sum(path.stat().st_size for path in copies(tmp_path)) <= 500


def test_the_copy_that_was_read_least_recently_goes_first(cache, tmp_path):
    addresses = [digest_of(bytes([number])) for number in range(10)]
    for age, address in enumerate(addresses):
        cache.write(address, bytes(100))
        path = tmp_path / "cache" / f"{address}.zst"
        os.utime(path, (time.time() - 1000 + age,) * 2)
    cache.read(addresses[0])
    cache.write(MISSING, bytes(100))
    left = {path.stem for path in copies(tmp_path)}
    assert left == {MISSING, addresses[0], *addresses[3:]}


def test_copies_that_cannot_be_written_are_no_failure(open_s3, blobs_url, tmp_path, caplog):
    blobs = open_s3(blobs_url)
    address = stored(blobs, "text")
    for path in copies(tmp_path):
        path.unlink()
    for path in (tmp_path / "cache").iterdir():
        path.rename(tmp_path / path.name)
    (tmp_path / "cache").rmdir()
    with caplog.at_level(logging.WARNING):
        assert [blobs.read(address) for _ in range(3)] == [b"text"] * 3
    assert len([each for each in caplog.records if "cannot be written" in each.message]) == 1


FAILURES = {
    "error": "500 Internal Server Error.* Check that the S3 store works",
    "stall": "no answer within 5 seconds.* Check that the S3 store works",
}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "message"), FAILURES.items(), ids=FAILURES)
def test_a_failure_says_why_and_what_to_do_in_time(open_s3, faulty_url, proxy, fault, message):
    blobs = open_s3(faulty_url)
    proxy.fault = fault
    batch = blobs.batch()
    batch.add("text")
    calls = (batch.commit, lambda: blobs.read(MISSING), blobs.check, lambda: list(blobs.sizes()))
    for call in calls:
        begin = time.monotonic()
        with pytest.raises(StoreError, match=message) as raised:
            call()
        assert not isinstance(raised.value, DamagedText)
        assert "s3://" in raised.value.detail
        assert time.monotonic() - begin < 30
    assert batch.read(digest_of(b"text")) == b"text", "whoever follows the job can read it"


@pytest.mark.parametrize("fault", ["error", "cut"])
def test_one_failure_is_not_noticed(open_s3, faulty_url, proxy, fault):
    address = stored(open_s3(faulty_url, 0), "text " * 1000)
    proxy.fault, proxy.times = fault, 1
    assert open_s3(faulty_url, 0).read(address) == b"text " * 1000
    assert proxy.times < 0, "it was asked again"


def test_answers_that_are_always_cut_are_a_failure_and_no_damage(open_s3, faulty_url, proxy, bucket):
    blobs = open_s3(faulty_url, 0)
    address = stored(blobs, "text " * 1000)
    proxy.fault = "cut"
    with pytest.raises(StoreError) as raised:
        blobs.read(address)
    assert not isinstance(raised.value, DamagedText)
    assert (bucket / "texts" / f"{address}.zst").is_file()


def test_a_store_that_is_away_is_named_and_its_copies_are_read(open_s3, faulty_url, proxy):
    blobs = open_s3(faulty_url)
    address = stored(blobs, "text")
    proxy.close()
    assert blobs.read(address) == b"text"
    with pytest.raises(StoreError, match="it cannot be connected to"):
        blobs.read(MISSING)
    with pytest.raises(StoreError, match="it cannot be connected to"):
        stored(blobs, "new")


@pytest.mark.slow
def test_while_a_store_does_not_answer_only_one_request_waits_for_it(open_s3, faulty_url, proxy, monkeypatch):
    monkeypatch.setattr(s3_objects, "_PAUSE_SECONDS", 0.5)
    monkeypatch.setattr(s3_objects, "_SLOW_SECONDS", 0.5)
    blobs = open_s3(faulty_url)
    address = stored(open_s3(faulty_url, 0), "text")
    proxy.fault = "stall"
    with pytest.raises(StoreError, match="no answer"):
        blobs.read(address)
    waiting = len(proxy.requests)
    with pytest.raises(StoreError, match="no answer"):
        blobs.read(address)
    assert len(proxy.requests) == waiting, "it was not asked again so soon"
    proxy.fault = ""
    time.sleep(0.6)
    assert blobs.read(address) == b"text"


@pytest.mark.slow
def test_a_store_that_answers_with_errors_is_asked_again_at_once(open_s3, faulty_url, proxy, monkeypatch):
    """A store with a full disk is an example. The repetitions of a request may take a second or longer."""
    monkeypatch.setattr(s3_objects, "_SLOW_SECONDS", 0.0)
    blobs = open_s3(faulty_url)
    proxy.fault = "error"
    with pytest.raises(StoreError, match="500"):
        stored(blobs, "text")
    proxy.fault = ""
    assert blobs.read(stored(blobs, "text")) == b"text"


def test_wrong_credentials_are_named(open_s3, blobs_url, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    blobs = open_s3(blobs_url)
    for call in (lambda: stored(blobs, "text"), lambda: blobs.read(MISSING), lambda: list(blobs.sizes())):
        with pytest.raises(StoreError, match=r"403 Forbidden.* Check AWS_ACCESS_KEY_ID") as raised:
            call()
        assert not isinstance(raised.value, DamagedText)


def test_a_missing_bucket_is_no_damage(open_s3, blobs_url):
    blobs = open_s3(blobs_url.replace("s3://", "s3://no-"))
    for call in (
        lambda: stored(blobs, "text"),
        lambda: blobs.read(MISSING),
        lambda: blobs.read_if_sound(MISSING),
        blobs.check,
        lambda: list(blobs.sizes()),
    ):
        with pytest.raises(StoreError, match=r"no bucket 'no-.* Create it") as raised:
            call()
        assert not isinstance(raised.value, DamagedText)


def test_a_store_that_is_away_can_be_opened(open_s3):
    open_s3("s3://bucket?endpoint=http://127.0.0.1:1").close()


@pytest.mark.parametrize(
    "url",
    ["bucket", "s3:///prefix", "gs://bucket", "s3://bucket?endpont=http://x", "s3://b?timeout_seconds=-1"],
)
def test_a_wrong_url_is_named(url):
    with pytest.raises(SettingsError, match="TRITON_EXPLORER_BLOBS_URL"):
        S3Location.of(url)


def test_a_url_has_a_bucket_a_prefix_and_options():
    location = S3Location.of(
        "s3://bucket/a/b/?endpoint=https://host:9000&region=eu-west-1&timeout_seconds=2.5"
    )
    assert location == S3Location("bucket", "a/b", "https://host:9000", "eu-west-1", 2.5)
    assert str(location) == "s3://bucket/a/b at https://host:9000"
    assert str(S3Location.of("s3://bucket")) == "s3://bucket"


def test_the_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "obstore", None)
    with (
        pytest.raises(SettingsError, match=r"Install triton-explorer\[s3\]"),
        closing(S3BlobStore("s3://bucket", tmp_path, 0)),
    ):
        pass


@pytest.mark.slow
def test_a_full_disk_of_a_server_is_no_reason_to_refuse_what_other_machines_store(
    tmp_path, postgresql, blobs_url
):
    quotas = Quotas(free_bytes=1 << 60)
    with closing(open_store(tmp_path, postgresql.new_database(), quotas, blobs_url)) as store:
        store.admit()
        assert store.health().problem == ""
    with closing(open_store(tmp_path, "", quotas, blobs_url)) as store, pytest.raises(StoreFull):
        store.admit()
