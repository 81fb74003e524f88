"""Stored results that no compiler produces: queries about them are refused, and block no other request."""

import dataclasses
import threading

import pytest

from explorer.model import Done, Event, Pass
from explorer.store.entry_writer import EntryWriter

LINES = 120_000


@pytest.fixture(scope="module")
def record(compile_example):
    return compile_example("vector_add")


@pytest.fixture(scope="module")
def store_passes(services, record):
    """Store a result that consists of passes."""

    def store_passes(*texts):
        passes: list[Event] = [
            Pass(index, "ttgir", "again", "Again", (), 1.0, text) for index, text in enumerate(texts)
        ]
        batch = services.store.batch()
        recorder = EntryWriter(batch)
        source = f"{record.request.source}\n# {len(passes)} passes\n"
        new = services.store.submit(dataclasses.replace(record.request, source=source))
        entries = [recorder.write(event) for event in [*passes, Done("complete", 1.0)]]
        services.store.finish(new.id, entries, batch)
        return new.id

    return store_passes


@pytest.fixture(scope="module")
def long_passes(store_passes):
    """Operations each of which could be thousands of others, in another order."""
    before = "".join(f"    test.use_{n % 7} %x\n" for n in range(LINES))
    after = "".join(f"    test.use_{n % 5} %x\n" for n in range(LINES, 0, -1))
    return f"{store_passes(before, after)}/passes/1/alignment"


@pytest.mark.usefixtures("strict")
def test_the_query_is_refused_and_others_are_answered_meanwhile(app, record, long_passes):
    responses = []
    asking = threading.Thread(
        target=lambda: responses.append(app.test_client().get(f"/api/v1/compilations/{long_passes}"))
    )
    asking.start()
    client, api = app.test_client(), f"/api/v1/compilations/{record.id}"
    others = [
        client.get(f"{api}/{path}").status_code
        for path in ("stages/ttir", "occupancy", f"compare/{record.id}/source")
    ]
    was_asking = asking.is_alive()
    asking.join()
    assert others == [200] * 3
    assert was_asking
    assert responses[0].status_code == 422
    assert "too much time or memory" in responses[0].get_json()["detail"]
