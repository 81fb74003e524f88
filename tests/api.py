"""A client that uses the API as a browser does."""

import json
import time


class Api:
    """A client that uses the API as a browser does."""

    def __init__(self, client):
        self.client = client

    def submit(self, source, **fields):
        body = {"source": source, "target": "cuda:90", **fields}
        return self.client.post("/api/v1/compilations", json=body)

    def events(self, url, **headers):
        """Return all events until the stream ends, as (number, kind, data)."""
        events, current = [], {}
        with self.client.get(
            url, headers=headers
        ) as response:  # an open one counts as a stream of this client
            text = response.get_data(as_text=True)
        for line in text.split("\n"):
            field, _, value = line.partition(": ")
            if field in ("id", "event", "data"):
                current[field] = value
            elif not line and current:
                events.append((int(current["id"]), current["event"], json.loads(current["data"])))
                current = {}
        return events

    def compile(self, source, **fields):
        ticket = self.submit(source, **fields).get_json()
        self.events(ticket["events"])
        return ticket


class AppApi:
    """The API of an application, without a connection."""

    url = "http://explorer.example"

    def __init__(self, client):
        self._client = client

    async def send(self, method, path, body, read):
        answer = self._client.open(path, method=method, data=body, content_type="application/json")
        return read(answer.status_code, answer.get_data())

    async def follow(self, path, seconds):
        self._client.get(path).get_data()


def settled(client, address):
    """Return the document of a matrix when nothing of it is at work."""
    end = time.monotonic() + 120
    while (document := client.get(address).get_json())["is_at_work"]:
        assert time.monotonic() < end, "The matrix is still at work."
        time.sleep(0.05)
    return document
