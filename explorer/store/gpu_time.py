"""The GPU time of each client, by day, in the database: all of its servers count together."""

from __future__ import annotations

from sqlalchemy import delete, select

from explorer.store.clock import Today
from explorer.store.database import Database, insert_into
from explorer.store.tables import GpuTimeRow


class GpuTime:
    """The time of the present day (UTC). Earlier days are forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def seconds(self, client: str) -> float:
        """Return the GPU time of a client today.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            taken = select(GpuTimeRow.seconds).where(GpuTimeRow.client == client, GpuTimeRow.day == Today())
            return session.scalar(taken) or 0.0

    def add(self, client: str, seconds: float) -> None:
        """Add the time of a run.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            session.execute(delete(GpuTimeRow).where(GpuTimeRow.day < Today()))
            added = insert_into(session, GpuTimeRow).values(client=client, day=Today(), seconds=seconds)
            session.execute(
                added.on_conflict_do_update(
                    index_elements=["client", "day"], set_={"seconds": GpuTimeRow.seconds + seconds}
                )
            )
