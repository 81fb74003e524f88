"""A store of its own for each test, with runs that have measurements."""

from contextlib import closing

import msgspec
import pytest
from recorded import documents

from explorer.model import Done, Measurement
from explorer.store import open_store
from explorer.store.entry_writer import EntryWriter


@pytest.fixture
def store(tmp_path):
    with closing(open_store(tmp_path)) as opened:
        yield opened


@pytest.fixture
def keep(store):
    """Return a function that stores the measurements of a run, and returns its record."""

    def keep_one(request, **measured):
        record = store.submit(request)
        batch = store.batch()
        writer = EntryWriter(batch)
        entries = [
            writer.write(Measurement(name, msgspec.json.encode(document).decode()))
            for name, document in {"environment": documents()["environment"], **measured}.items()
        ]
        store.finish(record.id, (*entries, Done("complete", 1.0)), batch)
        return store.find(record.id)

    return keep_one
