"""The followers of the jobs that other processes do, of all web servers, in the database.

A job ends when its last follower cancels it, on any server. A submitter follows the job until the job ends. A
reader of the event stream follows it as long as the server that sends the stream lives.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.orm import Session

from explorer.store.clock import Now
from explorer.store.database import Database, insert_into
from explorer.store.tables import FollowerRow, JobRow

#: A server that has not renewed its streams for this time has ended.
_LIFE_SECONDS = 15.0
#: No job takes longer.
_LONGEST_JOB_SECONDS = 24 * 3600.0
#: In place of the server of a stream: the follower has submitted the job.
_SUBMITTED = ""


def forget_followers(session: Session, record_id: str) -> None:
    """Remove the followers of a job that is over, or that starts anew."""
    session.execute(delete(FollowerRow).where(FollowerRow.id == record_id))


def is_submitted(record_id: str) -> ColumnElement[bool]:
    """Return the condition that a submitter has not left a job."""
    return (
        select(FollowerRow.id).where(FollowerRow.id == record_id, FollowerRow.server == _SUBMITTED).exists()
    )


class FollowerTable:
    """The followers in a database, as one of its servers sees them."""

    def __init__(self, database: Database, server: str) -> None:
        self._database = database
        self._server = server

    def join(self, record_id: str, follower: str) -> None:
        """Note that a follower has submitted a job.

        Raises:
            StoreError: the database cannot be written.
        """
        self._add(record_id, follower, _SUBMITTED, _LONGEST_JOB_SECONDS)

    def begin_stream(self, record_id: str, follower: str) -> None:
        """Note that this server sends an event stream to a follower.

        Raises:
            StoreError: the database cannot be written.
        """
        self._add(record_id, follower, self._server, _LIFE_SECONDS)

    def _add(self, record_id: str, follower: str, server: str, seconds: float) -> None:
        values = {"expires": Now() + seconds}
        with self._database.writing(is_durable=False) as session:
            new = insert_into(session, FollowerRow).values(
                id=record_id, follower=follower, server=server, **values
            )
            session.execute(
                new.on_conflict_do_update(index_elements=["id", "follower", "server"], set_=values)
            )

    def end_stream(self, record_id: str, follower: str) -> None:
        """Note that a follower has ended the last event stream of a job that this server sent to it.

        Raises:
            StoreError: the database cannot be written.
        """
        own = (FollowerRow.id == record_id, FollowerRow.follower == follower)
        with self._database.writing(is_durable=False) as session:
            session.execute(
                delete(FollowerRow).where(*own, FollowerRow.server.in_([_SUBMITTED, self._server]))
            )

    def leave(self, record_id: str, follower: str, *, counts_streams: bool = True) -> int:
        """Let a follower leave a job, on all servers. Return the number of other followers on all servers.

        Unless it `counts_streams`, only submitters of the job count.

        Raises:
            StoreError: the database cannot be used.
        """
        of_job = FollowerRow.id == record_id
        with self._database.reading() as session:
            found = set(session.scalars(select(FollowerRow.follower).where(of_job)))
        if follower in found:
            with self._database.writing(is_durable=False) as session:
                session.execute(delete(FollowerRow).where(of_job, FollowerRow.follower == follower))
        if not found - {follower}:
            return 0
        others = select(func.count(FollowerRow.follower.distinct())).where(
            of_job, FollowerRow.follower != follower, FollowerRow.expires >= Now()
        )
        if not counts_streams:
            others = others.where(FollowerRow.server == _SUBMITTED)
        with self._database.reading() as session:
            return session.scalar(others) or 0

    def submitted(self, follower: str, urgency: int) -> list[str]:
        """Return the IDs of the jobs of workers that a follower has submitted, of one urgency.

        Raises:
            StoreError: the database cannot be read.
        """
        own = (FollowerRow.follower == follower, FollowerRow.server == _SUBMITTED)
        jobs = select(JobRow.id).join(FollowerRow, FollowerRow.id == JobRow.id)
        with self._database.reading() as session:
            return list(session.scalars(jobs.where(*own, JobRow.urgency == urgency)))

    def renew(self) -> None:
        """Renew the event streams of this server.

        Raises:
            StoreError: the database cannot be written.
        """
        own = update(FollowerRow).where(FollowerRow.server == self._server)
        with self._database.writing(is_durable=False) as session:
            session.execute(own.values(expires=Now() + _LIFE_SECONDS))

    def remove_expired(self) -> None:
        """Remove the rows of servers that were killed.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            session.execute(delete(FollowerRow).where(FollowerRow.expires < Now()))
