import pytest


@pytest.mark.both_forms
def test_a_stored_result_is_replayed(api, ticket, index):
    events = api.events(ticket["events"])
    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    rows = [data for _, kind, data in events if kind == "stage"]
    assert rows == index["stages"]
    passes = [data for _, kind, data in events if kind == "pass"]
    assert [row["url"] for row in passes] == [row["url"] for row in index["passes"]]
    assert [data for _, kind, data in events if kind == "specialized"] == [index["specialization"]]
    assert [data for _, kind, data in events if kind == "resources"] == [index["resources"]]
    assert events[-1][1:] == (
        "done",
        {"status": "complete", "milliseconds": index["milliseconds"], "is_transient": False},
    )


@pytest.mark.both_forms
def test_a_listener_goes_on_where_it_was_cut_off(api, ticket):
    events = api.events(ticket["events"])
    assert api.events(ticket["events"], **{"Last-Event-ID": "3"}) == events[3:]


def test_a_listener_who_has_heard_all_is_sent_away(api, client, ticket):
    """An EventSource connects again for ever unless the server answers 204."""
    last = api.events(ticket["events"])[-1][0]
    response = client.get(ticket["events"], headers={"Last-Event-ID": str(last)})
    assert response.status_code == 204


def test_the_stream_is_not_stored_or_buffered(client, ticket):
    response = client.get(ticket["events"], headers={"Accept-Encoding": "gzip, zstd"})
    assert response.mimetype == "text/event-stream"
    assert response.cache_control.no_store
    assert "Content-Encoding" not in response.headers


def test_ptx_does_not_wait_for_the_disassembler(api, ticket):
    events = api.events(ticket["events"])
    kinds = [data["name"] if kind == "stage" else kind for _, kind, data in events]
    assert kinds.index("ptx") < kinds.index("sass") < kinds.index("done")


@pytest.mark.both_forms
def test_a_stage_can_be_read_as_soon_as_it_is_announced(api, client, vector_add):
    ticket = api.submit(vector_add + "# read at once\n").get_json()
    for chunk in client.get(ticket["events"]).response:
        if b"event: stage" in chunk and b'"ttir"' in chunk:
            assert b"tt.load" in client.get(ticket["api"] + "/stages/ttir").data
            assert client.get(ticket["api"]).get_json()["status"] in ("running", "complete")


@pytest.mark.both_forms
def test_a_client_has_a_limited_number_of_streams(client, ticket, services):
    url = ticket["events"]
    most = services.settings.client_streams
    open_streams = [client.get(url) for _ in range(most)]
    refused = client.get(url)
    assert refused.status_code == 429
    assert refused.headers["Retry-After"]
    assert client.get(url, environ_base={"REMOTE_ADDR": "203.0.113.7"}).status_code == 200
    for stream in open_streams:
        stream.close()
    assert client.get(url).status_code == 200


def test_a_new_stream_goes_on_after_the_last_event(api, ticket):
    events = api.events(ticket["events"])
    assert api.events(f"{ticket['events']}?last=3") == events[3:]


@pytest.mark.both_forms
def test_a_tab_that_polls_instead_of_a_stream_goes_on_following(client, api, endless):
    """A hidden tab has closed its stream, and another tab cancels the same job."""
    ticket = api.submit(f"{endless}# of two tabs\n").get_json()
    client.get(f"{ticket['events']}?follower=hidden").close()
    assert client.get(f"{ticket['api']}?follower=hidden").get_json()["status"] in ("queued", "running")
    answer = client.delete(ticket["api"])
    assert (answer.status_code, answer.get_json()) == (202, {"followers": 1})
    assert client.delete(f"{ticket['api']}?follower=hidden").status_code == 204
