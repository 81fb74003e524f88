"""One compilation, made through the API, that most tests of the views look at."""

import json

import pytest


class Api:
    """The API as a browser uses it."""

    def __init__(self, client):
        self.client = client

    def submit(self, source, **fields):
        body = {"source": source, "target": "cuda:90", **fields}
        return self.client.post("/api/v1/compilations", json=body)

    def events(self, url, **headers):
        """All events until the stream ends, as (number, kind, data)."""
        events, current = [], {}
        for line in self.client.get(url, headers=headers).get_data(as_text=True).split("\n"):
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


@pytest.fixture
def api(client):
    return Api(client)


@pytest.fixture(scope="session")
def ticket(app, vector_add):
    return Api(app.test_client()).compile(vector_add)


@pytest.fixture
def index(client, ticket):
    return client.get(ticket["api"]).get_json()
