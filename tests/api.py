"""A client that uses the API as a browser does."""

import json


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
