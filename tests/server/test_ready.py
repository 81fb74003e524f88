"""Test that the server sends stored results again from memory, and only as long as they are right."""

import time
from types import SimpleNamespace

import pytest
from served import Server

from explorer.server.ready import ReadyResponses, key_of

HEADERS = [(b"Content-Type", b"text/plain"), (b"Content-Length", b"4"), (b"ETag", b'W/"a"')]


def scope(path=b"/a", query=b"", method="GET", **headers):
    listed = [(name.replace("_", "-").encode(), value) for name, value in {"host": b"h", **headers}.items()]
    return {"method": method, "raw_path": path, "query_string": query, "headers": listed}


def key(*arguments, **options):
    return key_of(scope(*arguments, **options))[0]


@pytest.fixture
def store():
    return SimpleNamespace(revision=7)


@pytest.fixture
def responses(store):
    kept = ReadyResponses(store)
    kept.keep(key(), HEADERS, b"text", kept.revision)
    return kept


def test_a_response_is_sent_again_to_the_same_request_only(responses):
    found = responses.find(key())
    assert found is not None and found.answer("") == (200, HEADERS, b"text")
    for other in (
        key(b"/b"),
        key(query=b"raw=1"),
        key(host=b"other"),
        key(accept_encoding=b"zstd"),
    ):
        assert other is not None and responses.find(other) is None


def test_a_client_that_has_the_response_gets_its_headers(responses):
    found = responses.find(key())
    assert found.answer('"b", W/"a"') == (304, [HEADERS[2]], b"")
    assert found.answer('"b"')[0] == 200


@pytest.mark.parametrize(
    "asked",
    [scope(method="HEAD"), scope(method="POST"), scope(range=b"bytes=0-1"), scope(content_length=b"3")],
    ids=["HEAD", "POST", "range", "body"],
)
def test_other_requests_are_for_the_view(asked):
    assert key_of(asked)[0] is None


def test_a_response_ends_with_the_revision_of_the_store(responses, store):
    store.revision += 1
    assert responses.find(key()) is None
    responses.keep(key(), HEADERS, b"old", revision=7)  # its view was called before the change
    assert responses.find(key()) is None


def test_a_response_ends_after_some_seconds(responses, monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 11)
    assert responses.find(key()) is None


def test_the_responses_that_were_not_sent_for_the_longest_time_make_room(responses):
    megabyte = b"x" * 1024 * 1024
    for number in range(40):
        responses.keep(key(b"/%d" % number), HEADERS, megabyte, responses.revision)
        assert responses.find(key(b"/0")) is not None
    kept = [number for number in range(40) if responses.find(key(b"/%d" % number))]
    assert 20 < len(kept) < 32
    assert kept[0] == 0 and kept[-1] == 39
    assert responses.find(key()) is None


@pytest.mark.nightly
@pytest.mark.slow
def test_a_stored_text_is_sent_again_without_reading_it(tmp_path, vector_add):
    server = Server(tmp_path / "data")
    try:
        ticket = server.post({"source": f"{vector_add}# kept\n", "target": "cuda:90"})
        assert list(server.events(ticket))[-1] == "done"
        client, text = server.client(), f"{ticket['api']}/stages/ptx"
        index, first = client.ask("GET", ticket["api"]), client.ask("GET", text)
        assert first.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        for file in (tmp_path / "data" / "blobs").glob("*.zst"):
            file.unlink()
        again = client.ask("GET", text)
        assert (again.status, again.headers["ETag"], again.body) == (200, first.headers["ETag"], first.body)
        assert client.ask("GET", ticket["api"]).body == index.body
        unchanged = client.ask("GET", text, **{"If-None-Match": first.headers["ETag"]})
        assert (unchanged.status, unchanged.body) == (304, b"")
        assert unchanged.headers["Content-Security-Policy"] == first.headers["Content-Security-Policy"]
        lost = client.ask("GET", f"{ticket['api']}/stages/ttgir")
        assert lost.document["kind"] == "damaged_text"
        assert client.ask("GET", ticket["api"]).document["status"] != "complete"
    finally:
        server.close()
