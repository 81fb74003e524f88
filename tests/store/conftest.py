from contextlib import ExitStack, closing

import pytest

from explorer.store import open_store


@pytest.fixture
def stores(tmp_path, database_url):
    """Two stores with one database."""
    with ExitStack() as opened:
        yield [opened.enter_context(closing(open_store(tmp_path, database_url))) for _ in range(2)]
