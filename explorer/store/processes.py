"""The web servers and workers that use one database: which are alive, and the abilities of each worker."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import delete, select, update

from explorer.store.clock import Now
from explorer.store.database import Database, insert_into
from explorer.store.tables import ProcessRow

#: A process that was not seen for this time has ended.
LIFE_SECONDS = 15.0
#: How long the abilities of a worker are kept after its end: it may be about to start again.
_KNOWN_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Process:
    """A web server or a worker. `document` is JSON."""

    name: str
    is_worker: bool
    location: str
    document: bytes
    is_alive: bool


class ProcessTable:
    """The processes in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def announce(self, name: str, location: str, document: bytes = b"{}", *, is_worker: bool = False) -> None:
        """Note that a process is alive, where it stores texts, and its abilities.

        Raises:
            StoreError: the database cannot be written.
        """
        values = {"is_worker": is_worker, "location": location, "document": document, "seen": Now()}
        with self._database.writing() as session:
            new = insert_into(session, ProcessRow).values(name=name, **values)
            session.execute(new.on_conflict_do_update(index_elements=["name"], set_=values))
            session.execute(delete(ProcessRow).where(ProcessRow.seen < Now() - _KNOWN_SECONDS))

    def retire(self, name: str) -> None:
        """Note that a process ends.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            ended = update(ProcessRow).where(ProcessRow.name == name)
            session.execute(ended.values(seen=Now() - LIFE_SECONDS))

    def all(self) -> list[Process]:
        """Return the processes of the last day.

        Raises:
            StoreError: the database cannot be read.
        """
        is_alive = ProcessRow.seen > Now() - LIFE_SECONDS
        with self._database.reading() as session:
            rows = session.execute(select(ProcessRow, is_alive).order_by(ProcessRow.name)).all()
        return [Process(row.name, row.is_worker, row.location, row.document, alive) for row, alive in rows]
