"""The body of a request has to arrive in time."""

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from explorer.errors import RequestTooSlow
from explorer.jobs.fairness import CountByClient
from explorer.server import application


def test_the_time_of_a_body_ends_although_data_hides_the_cancellation(monkeypatch):
    monkeypatch.setattr(application, "_BODY_SECONDS", 0.05)
    drops = iter(range(5))

    async def receive():
        next(drops)
        # `asyncio.wait_for` does this before Python 3.12 if data has arrived.
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.2)
        return {"type": "http.request", "body": b" ", "more_body": True}

    body = application._Body(CountByClient(100), "client", 100)
    # A browser test leaves a loop in the thread of the tests.
    with ThreadPoolExecutor() as threads, pytest.raises(RequestTooSlow):
        threads.submit(lambda: asyncio.run(body.receive(receive))).result()
    assert next(drops) == 1
