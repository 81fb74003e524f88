"""The tables of both databases: created, migrated, refused; and processes that do so at the same moment."""

import os
import subprocess
import sys
import zipfile
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, insert, inspect, select, text, update

from explorer.errors import NotFound, SettingsError, StoreError, StoreLocked
from explorer.model import Request
from explorer.store import Collection, migrations, open_store
from explorer.store.address import canonical_json
from explorer.store.blob_compression import compress
from explorer.store.database import Database, open_database
from explorer.store.tables import REVISIONS, Base, CompilationRow, RevisionRow, UsageRow

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "version_1/data.zip"
REQUEST = Request("source", "cuda:90", "3.9.0")
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)

#: The program of several processes that start at the same moment, when their input ends.
STARTER = """
import sys
from pathlib import Path
from explorer.model import Request
from explorer.store import open_store
print("ready", flush=True)
sys.stdin.read()
store = open_store(Path(sys.argv[1]), sys.argv[2])
print(store.submit(Request("the same source", "cuda:90", "3.9.0")).id)
store.close()
"""


@pytest.fixture
def engine(database_url):
    engine = create_engine(database_url)
    yield engine
    engine.dispose()


def revision_of(engine):
    with engine.connect() as connection:
        return connection.scalars(select(RevisionRow.revision)).one()


@pytest.mark.slow
def test_processes_may_start_at_the_same_moment(tmp_path, database_url, engine):
    command = [sys.executable, "-c", STARTER, str(tmp_path), database_url]
    processes = [
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.close()
        process.stdin = None
    outputs = [process.communicate() for process in processes]
    assert {error for _, error in outputs} == {""}
    assert len({output for output, _ in outputs}) == 1
    assert revision_of(engine) == REVISIONS[-1]


def test_new_tables_are_those_that_the_migrations_lead_to(database_url, engine):
    with engine.begin() as connection:
        migrations.upgrade(connection)
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)
        tables = inspect(connection).get_table_names()
    assert sorted(tables) == sorted(Base.metadata.tables)
    # Alembic itself made its table.
    assert [each for each in differences if each[1].name != RevisionRow.__tablename__] == []
    assert revision_of(engine) == REVISIONS[-1]


def test_the_list_of_revisions_is_that_of_the_migrations():
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    found = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(found)) == REVISIONS


def test_a_database_of_the_first_revision_keeps_its_rows(tmp_path, database_url, engine):
    """A database that is older than revisions: it has a table with a version, and lacks some other tables."""
    with engine.begin() as connection:
        migrations.upgrade(connection, "0001")
        for statement in (
            "DROP TABLE alembic_version",
            "DROP TABLE usage",
            "CREATE TABLE schema (version INTEGER NOT NULL PRIMARY KEY)",
            "INSERT INTO schema VALUES (1)",
        ):
            connection.execute(text(statement))
        row: dict[str, Any] = {
            "id": "123456789ABC",
            "digest": "0" * 64,
            "request": b"request",
            "status": "queued",
        }
        row |= {"created": NOW, "target": "", "triton": "", "is_final": False}
        connection.execute(insert(CompilationRow).values(row))
    with closing(open_store(tmp_path, database_url)) as store:
        assert store.submit(REQUEST).status == "queued"
    with engine.connect() as connection:
        created = select(CompilationRow.created).where(CompilationRow.id == row["id"])
        assert connection.scalars(created).one() == NOW
        size = select(UsageRow.request_bytes).where(UsageRow.id == row["id"])
        assert connection.scalars(size).one() == len(row["request"])
        assert "schema" not in inspect(connection).get_table_names()
    assert revision_of(engine) == REVISIONS[-1]


@pytest.mark.parametrize("key", ["", "secret"], ids=["public", "private"])
def test_a_session_that_was_a_request_keeps_its_id(tmp_path, database_url, engine, key):
    content = b'{"title":"A program"}'
    session = Request(content.decode(), "", "", task="session", private=key)
    with engine.begin() as connection:
        migrations.upgrade(connection, "0007")
        rows = ((session, "123456789ABC"), (REQUEST, "123456789ABD"))
        for request, record_id in rows:
            row = {"id": record_id, "created": NOW, "target": request.target, "triton": request.triton}
            row |= {"digest": record_id, "status": "complete", "is_final": True, "journal": "journal"}
            row["request"] = compress(canonical_json(request))
            connection.execute(insert(CompilationRow).values(row))
            usage = {"id": record_id, "client": "anna", "used": NOW, "request_bytes": 1, "result_bytes": 2}
            connection.execute(insert(UsageRow).values(usage))
    with closing(open_store(tmp_path, database_url)) as store:
        found = store.collections.find("123456789ABC")
        assert found == Collection("123456789ABC", "session", key, content, NOW)
        assert store.collections.put("session", content, key, "bert").id == found.id
        with pytest.raises(NotFound):
            store.find("123456789ABC")
        assert store.statistics().by_task["session"].bytes == 1
        assert store.statistics().by_task["compile"].bytes == 3


def test_a_data_folder_that_is_older_than_revisions_is_migrated(tmp_path):
    with zipfile.ZipFile(STORED) as archive:
        archive.extractall(tmp_path)
    with closing(open_store(tmp_path)) as store:
        assert store.find("Z2CFaWgV3tfs").status == "complete"
        store.admit("somebody")
    engine = create_engine(f"sqlite:///{tmp_path / 'explorer.sqlite'}")
    assert revision_of(engine) == REVISIONS[-1]
    assert sorted(inspect(engine).get_table_names()) == sorted(Base.metadata.tables)
    engine.dispose()


def test_tables_of_a_newer_version_are_left_alone(database_url):
    engine = open_database(database_url)
    with engine.begin() as connection:
        connection.execute(update(RevisionRow).values(revision="9999"))
    engine.dispose()
    with pytest.raises(StoreError, match=r"revision 9999.*another data folder"):
        open_database(database_url)


def test_a_server_that_runs_while_a_newer_one_migrates_leaves_the_revision(database_url, engine):
    with closing(Database(database_url)) as earlier:
        with engine.begin() as newer:
            newer.execute(update(RevisionRow).values(revision="9999"))
        earlier.check()
    assert revision_of(engine) == "9999"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("explorer.sqlite", "TRITON_EXPLORER_DATABASE_URL"),
        ("mysql://somebody:secret@localhost/explorer", r"mysql.*Use sqlite or .*postgresql\+psycopg"),
    ],
)
def test_a_url_that_cannot_be_used_is_named(url, message):
    with pytest.raises(SettingsError, match=message) as raised:
        open_database(url)
    assert "secret" not in raised.value.detail


def test_a_server_that_does_not_answer_is_named(tmp_path):
    with pytest.raises(StoreError, match="Check the database") as raised:
        open_database(f"postgresql+psycopg://somebody:secret@/explorer?host={tmp_path}")
    assert "secret" not in raised.value.detail


@pytest.mark.slow
def test_a_row_that_another_process_has_locked_is_named(postgresql):
    url = postgresql.new_database()
    with closing(Database(url)) as database:
        engine = create_engine(url)
        with engine.connect() as other:
            other.execute(update(RevisionRow).values(revision=REVISIONS[-1]))
            with pytest.raises(StoreLocked, match="Another process"):
                database.check()
        engine.dispose()
        database.check()


@pytest.mark.slow
def test_connections_that_have_just_been_closed_are_replaced(postgresql):
    url = postgresql.new_database()
    others = "datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    end = text(f"SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE {others}")
    with closing(Database(url)) as database:
        with ExitStack() as opened:
            for _ in range(3):
                opened.enter_context(database.connection())
        engine = create_engine(url)
        with engine.connect() as administrator:
            ended = administrator.scalar(end)
        engine.dispose()
        database.check()
    assert ended == 3
