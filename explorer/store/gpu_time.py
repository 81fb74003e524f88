"""The time that each client takes on GPUs, by day, in the database: all of its servers count together."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import delete

from explorer.store.database import Database, insert_into
from explorer.store.tables import GpuTimeRow


class GpuTime:
    """The time of the present day (UTC). Earlier days are forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def seconds(self, client: str) -> float:
        """Return what a client has taken.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            row = session.get(GpuTimeRow, (client, _today()))
        return 0.0 if row is None else row.seconds

    def add(self, client: str, seconds: float) -> None:
        """Add the time of a run.

        Raises:
            StoreError: the database cannot be written.
        """
        today = _today()
        with self._database.writing() as session:
            session.execute(delete(GpuTimeRow).where(GpuTimeRow.day < today))
            added = insert_into(session, GpuTimeRow).values(client=client, day=today, seconds=seconds)
            session.execute(
                added.on_conflict_do_update(
                    index_elements=["client", "day"], set_={"seconds": GpuTimeRow.seconds + seconds}
                )
            )


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
