"""An S3 store that fails: the server reports it, serves results with copies, and loses nothing silently."""

from contextlib import closing

import pytest
from served import Server

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def compile_(client, source):
    """Compile a source. Return the address of the result, and the events of its stream."""
    ticket = client.submit(source).document
    return ticket["api"], client.ask("GET", ticket["events"]).body.decode()


def test_a_server_survives_an_s3_store_that_fails(tmp_path, faulty_url, proxy, vector_add):
    with closing(Server(tmp_path, blobs_url=faulty_url)) as server:
        client = server.client()
        stored, _ = compile_(client, f"{vector_add}# first\n")
        assert client.ask("GET", stored).document["status"] == "complete"
        before = client.ask("GET", f"{stored}/stages/ttgir").body
        assert not (tmp_path / "blobs").exists()

        proxy.fault = "error"
        other = server.client(2)  # with an address of its own, whose answers the server has not kept
        assert other.ask("GET", f"{stored}/stages/ttgir").body == before
        lost, events = compile_(client, f"{vector_add}# second\n")
        assert "The store cannot be used" in events
        assert "500 Internal Server Error" in events
        assert "Check that the S3 store works" in events
        assert '"ttgir"' in events, "its stages were shown"
        document = client.ask("GET", lost).document
        assert document["status"] == "failed", "to look at it does not start it again"
        assert "500 Internal Server Error" in document["diagnostics"][-1]["hint"]
        resumed = client.ask("GET", f"{lost}/events", **{"Last-Event-ID": "20"}).body.decode()
        assert "500 Internal Server Error" in resumed, "the last events were not sent yet"
        health = client.ask("GET", "/healthz")
        assert health.status == 503
        assert "500 Internal Server Error" in health.document["store"]["problem"]
        assert other.ask("GET", f"{stored}/stages/ptx").status == 200

        proxy.fault = ""
        again, _ = compile_(client, f"{vector_add}# second\n")
        assert again == lost
        assert client.ask("GET", again).document["status"] == "complete"
        assert client.ask("GET", f"{again}/stages/ttgir").status == 200


def test_a_server_starts_while_its_s3_store_is_away_and_serves_what_it_has(
    tmp_path, faulty_url, proxy, vector_add
):
    source = f"{vector_add}# changed\n"
    with closing(Server(tmp_path, blobs_url=faulty_url)) as server:
        stored, _ = compile_(server.client(), source)
    proxy.close()
    with closing(Server(tmp_path, blobs_url=faulty_url)) as server:
        client = server.client()
        assert client.ask("GET", stored).document["status"] == "complete"
        assert client.ask("GET", f"{stored}/stages/sass").status == 200
        assert "cannot be connected to" in client.ask("GET", "/healthz").document["store"]["problem"]
