"""One server does the jobs of a database, or processes with a broker share them."""

from contextlib import ExitStack, closing

import pytest
from sqlalchemy import func, select

from explorer.errors import StoreError
from explorer.store import open_store, server_lock


@pytest.fixture
def open_one(tmp_path, database_url, monkeypatch):
    monkeypatch.setattr(server_lock, "_WAIT_SECONDS", 0.0)
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(open_store(tmp_path, database_url)))


def test_a_second_server_is_refused_until_the_first_one_ends(open_one, monkeypatch):
    first, second = open_one(), open_one()
    first.reserve(is_shared=False)
    with pytest.raises(StoreError, match=r"Another server does the jobs .*TRITON_EXPLORER_DATA_DIR"):
        second.reserve(is_shared=False)
    first.close()
    monkeypatch.undo()  # PostgreSQL notices the end of a connection a little later
    second.reserve(is_shared=False)


@pytest.mark.slow
def test_processes_with_a_broker_share_a_database_with_each_other_only(tmp_path, postgresql, monkeypatch):
    monkeypatch.setattr(server_lock, "_WAIT_SECONDS", 0.0)
    url = postgresql.new_database()
    with ExitStack() as opened:
        web, worker, server = (opened.enter_context(closing(open_store(tmp_path, url))) for _ in range(3))
        web.reserve(is_shared=True)
        worker.reserve(is_shared=True)
        with pytest.raises(StoreError, match="Another server does the jobs"):
            server.reserve(is_shared=False)
    with ExitStack() as opened:
        server, web = (opened.enter_context(closing(open_store(tmp_path, url))) for _ in range(2))
        monkeypatch.undo()
        server.reserve(is_shared=False)
        monkeypatch.setattr(server_lock, "_WAIT_SECONDS", 0.0)
        with pytest.raises(StoreError, match="A server without TRITON_EXPLORER_BROKER_URL"):
            web.reserve(is_shared=True)


@pytest.mark.slow
def test_a_server_takes_the_lock_again_whose_connection_has_ended(tmp_path, postgresql, monkeypatch, caplog):
    monkeypatch.setattr(server_lock, "_WAIT_SECONDS", 0.0)
    url = postgresql.new_database()
    with ExitStack() as opened:
        first, second = (opened.enter_context(closing(open_store(tmp_path, url))) for _ in range(2))
        first.reserve(is_shared=False)
        end_connection_of(first)
        first.renew_reservation()
        with pytest.raises(StoreError, match="Another server"):
            second.reserve(is_shared=False)
        end_connection_of(first)
        second.reserve(is_shared=False)
        first.renew_reservation()
        assert "Another server does the jobs" in caplog.text
        end_connection_of(second)
        first.renew_reservation()
        with pytest.raises(StoreError, match="Another server"):
            second.reserve(is_shared=False)


def end_connection_of(store):
    """Let PostgreSQL close the connection that has the lock."""
    connection, _ = store._server_lock._last
    process = connection.scalar(select(func.pg_backend_pid()))
    with store._database.connection() as other:
        assert other.scalar(select(func.pg_terminate_backend(process, 10_000)))
