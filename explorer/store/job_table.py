"""The jobs that workers do, in the order in which they start.

A web server inserts a job, a worker takes it by its lease, and the row is removed with the result. A job
whose worker was killed waits again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import and_, case, func, select, update
from sqlalchemy.orm import Session

from explorer.store.clock import Now
from explorer.store.database import Database, insert_into
from explorer.store.followers import forget_followers
from explorer.store.job_order import LONGEST_OVERTAKING_SECONDS, Waiting, in_order, may_use_reserve
from explorer.store.leases import Leases, forget_failure
from explorer.store.tables import JobRow, LeaseRow, TurnRow

#: The advisory lock of PostgreSQL that a server holds while it counts the places of clients.
_PLACES_LOCK = 0x706C_6163_6573
_HELD = and_(LeaseRow.id == JobRow.id, LeaseRow.expires >= Now())


@dataclass(frozen=True)
class NewJob:
    """A job for a queue. `admit` gets the number of such waiting jobs of each client, and may refuse the job.

    The name of a queue begins with the kind of runner and ":". The least `urgency` starts first. `request_id`
    and the W3C `traceparent` identify the request that has submitted the job.
    """

    queue: str
    client: str
    urgency: int
    admit: Callable[[Counter[str]], None]
    request_id: str = ""
    traceparent: str = ""


@dataclass(frozen=True)
class TakenJob:
    """A job that a worker has taken."""

    id: str
    client: str
    urgency: int
    request_id: str
    traceparent: str


class JobTable:
    """The jobs in a database. Taking a job acquires its lease."""

    def __init__(self, database: Database, leases: Leases) -> None:
        self._database = database
        self._leases = leases

    # --- web servers ------------------------------------------------------------------------------

    def add(self, session: Session, record_id: str, job: NewJob) -> bool:
        """Queue a job. Return False if it waits or runs already.

        Raises:
            QueueFull, TooManyRequests: raised by `admit`.
        """
        if self._database.is_postgresql:
            session.execute(select(func.pg_advisory_xact_lock(_PLACES_LOCK)))
        if session.get(JobRow, record_id) is not None:
            return False
        kind = job.queue.partition(":")[0]
        waiting = (
            select(JobRow.client, func.count())
            .outerjoin(LeaseRow, _HELD)
            .where(LeaseRow.id.is_(None), JobRow.queue.startswith(f"{kind}:"))
            .group_by(JobRow.client)
        )
        job.admit(Counter({row[0]: row[1] for row in session.execute(waiting)}))
        session.add(
            JobRow(
                id=record_id,
                queue=job.queue,
                client=job.client,
                urgency=job.urgency,
                submitted=Now(),
                request_id=job.request_id,
                traceparent=job.traceparent,
            )
        )
        return True

    def enter(self, record_id: str, job: NewJob) -> bool:
        """Queue the job of a stored request. Return False if it waits or runs already.

        The transient result of an earlier execution is removed.

        Raises:
            QueueFull, TooManyRequests: raised by `admit`.
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            is_new = self.add(session, record_id, job)
            if is_new:
                forget_followers(session, record_id)
                forget_failure(session, record_id)
            return is_new

    def queue(self, record_id: str) -> str | None:
        """Return the queue of a job that waits or runs; None if there is no such job.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            return session.scalar(select(JobRow.queue).where(JobRow.id == record_id))

    def hurry(self, record_id: str, urgency: int) -> None:
        """Raise the urgency of a job to a minimum.

        It then waits behind the other jobs of that urgency, unless it has waited for long.

        Raises:
            StoreError: the database cannot be written.
        """
        more_urgent = update(JobRow).where(JobRow.id == record_id, JobRow.urgency > urgency)
        with self._database.writing() as session:
            is_old = JobRow.submitted < Now() - LONGEST_OVERTAKING_SECONDS
            submitted = case((is_old, JobRow.submitted), else_=Now())
            session.execute(more_urgent.values(urgency=urgency, submitted=submitted))

    def withdraw(self, record_id: str) -> bool:
        """Take a waiting job by its ID. Return False if there is no such job, or if it runs.

        Raises:
            StoreError: the database cannot be written.
        """
        # Canceling a running job must not lock rows that its worker needs to end the job.
        waiting = (
            select(JobRow.id).outerjoin(LeaseRow, _HELD).where(JobRow.id == record_id, LeaseRow.id.is_(None))
        )
        with self._database.writing(is_durable=False) as session:
            found = session.scalar(waiting.with_for_update(of=JobRow))
            return found is not None and self._leases.take(session, record_id)

    def order(self, queue: str) -> list[str]:
        """Return the IDs of the jobs that wait in a queue, in the order in which they start.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            return [job.item for job in self._in_order(session, [queue])[0]]

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of waiting and running jobs, by queue.

        Raises:
            StoreError: the database cannot be read.
        """
        counts = select(JobRow.queue, func.count(), func.count(LeaseRow.id))
        with self._database.reading() as session:
            rows = session.execute(counts.outerjoin(LeaseRow, _HELD).group_by(JobRow.queue))
            return {queue: (count - running, running) for queue, count, running in rows}

    def oldest_seconds(self, kind: str) -> float:
        """Return how long the oldest job has waited for a kind of runner; 0 if none waits.

        Raises:
            StoreError: the database cannot be read.
        """
        waited = (
            select(func.max(Now() - JobRow.submitted))
            .outerjoin(LeaseRow, _HELD)
            .where(LeaseRow.id.is_(None), JobRow.queue.startswith(f"{kind}:"))
        )
        with self._database.reading() as session:
            return float(session.scalar(waited) or 0.0)

    # --- workers ----------------------------------------------------------------------------------

    def take(
        self, queues: Collection[str], in_flight: Collection[str] = (), *, is_of_reserve: bool = False
    ) -> TakenJob | None:
        """Take the next job of some queues, in the order of `job_order`; None if none waits.

        With `is_of_reserve`, only a job that may use the reserve is taken. A job that this worker does
        already is not taken again, even if its lease has expired. A job `in_flight` is not taken either: it
        was started again after its result was stored, and this worker has not ended it yet.

        Raises:
            StoreError: the database cannot be used.
        """
        own = self._leases.held.union(in_flight)
        with self._database.reading() as session:
            waiting, running = self._in_order(session, queues)
        for job in waiting:
            if job.item in own or (is_of_reserve and not may_use_reserve(job, running)):
                continue
            free = select(JobRow).where(JobRow.id == job.item).with_for_update(skip_locked=True)
            with self._database.writing() as session:
                row = session.scalar(free)
                if row is not None and self._leases.take(session, row.id, starts_anew=False):
                    turn = insert_into(session, TurnRow).values(client=row.client, taken=Now())
                    session.execute(
                        turn.on_conflict_do_update(index_elements=["client"], set_={"taken": Now()})
                    )
                    return TakenJob(row.id, row.client, row.urgency, row.request_id, row.traceparent)
        return None

    def _in_order(
        self, session: Session, queues: Collection[str]
    ) -> tuple[list[Waiting[str]], Mapping[str, int]]:
        """Return the waiting jobs of queues of one kind in order, and how many jobs of their clients run.

        Running jobs of the same kind count, and turns of all kinds.
        """
        kind = next(iter(queues)).partition(":")[0]
        running = (
            select(JobRow.client, func.count().label("jobs"))
            .join(LeaseRow, _HELD)
            .where(JobRow.queue.startswith(f"{kind}:"))
            .group_by(JobRow.client)
            .subquery()
        )
        waiting = (
            select(
                JobRow.id,
                JobRow.client,
                JobRow.urgency,
                JobRow.submitted,
                func.coalesce(running.c.jobs, 0).label("running"),
                func.coalesce(TurnRow.taken, 0.0).label("turn"),
                Now().label("now"),
            )
            .outerjoin(LeaseRow, _HELD)
            .outerjoin(running, running.c.client == JobRow.client)
            .outerjoin(TurnRow, TurnRow.client == JobRow.client)
            .where(LeaseRow.id.is_(None), JobRow.queue.in_(queues))
            .order_by(JobRow.id)
        )
        rows = session.execute(waiting).all()
        counts = {row.client: row.running for row in rows}
        turns = {row.client: row.turn for row in rows}
        now = max((row.now for row in rows), default=0.0)
        jobs = [Waiting(row.id, row.client, row.urgency, row.submitted) for row in rows]
        return in_order(jobs, counts, turns, now), counts
