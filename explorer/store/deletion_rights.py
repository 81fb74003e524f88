"""DeletionRights: the right of submitters to delete a result with a secret token.

The database only has a hash of each token. A result is removed when its last submitter deletes it; until
then, a deletion only gives up the right of the caller.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from sqlalchemy import Select, delete, func, select
from sqlalchemy.orm import Session

from explorer.errors import Forbidden, NotFinished, NotFound
from explorer.store.address import PRIVATE_ID
from explorer.store.database import Database, insert_into
from explorer.store.leases import is_leased
from explorer.store.tables import CollectionRow, CompilationRow, DeletionRightRow, UsageRow

Owned = TypeVar("Owned", CompilationRow, CollectionRow)
_TOKEN_BYTES = 24
#: In place of the hash of a token: other clients have submitted the result without a token.
_OTHERS = ""


@dataclass
class DeletionRight:
    """The right to delete a submission: `holder` is the hash of the token.

    `is_new`: the token was made for this submission, so it is only valid for a result that nobody has
    submitted before. `is_granted` is set as soon as the holder can delete a result with the token.
    """

    holder: str
    is_new: bool = False
    is_granted: bool = field(default=False, compare=False)


def new_token() -> str:
    """Return a token that nobody can guess."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def holder_of(token: str) -> str:
    """Return the hash of a token. It needs no salt: a token has as many random bits as a key."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def holder_of_account(name: str) -> str:
    """Return the holder for the submissions of an account. No token in a header has this hash."""
    return holder_of(f"\0account {name}")


@dataclass(frozen=True)
class Deleted:
    """The removed results, and the results that stay because others have submitted or retained them."""

    removed: frozenset[str]
    kept: frozenset[str]


class DeletionRights:
    """The deletion rights in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_first(self, session: Session, record_id: str, right: DeletionRight | None) -> None:
        """Add the right of the client that has just inserted a request."""
        if right is not None:
            session.add(DeletionRightRow(id=record_id, holder=right.holder))
            right.is_granted = True

    def add(self, record_id: str, right: DeletionRight | None, client: str) -> bool:
        """Add a right to a result that was submitted before. Return whether the result still exists.

        A submission without an existing token is noted if its client is not the first submitter.
        """
        if right is None:
            return True
        with self._database.reading() as session:
            if session.get(DeletionRightRow, (record_id, right.holder)) is not None:
                right.is_granted = True
                return True
            holder = right.holder
            if right.is_new:
                holder, usage = _OTHERS, session.get(UsageRow, record_id)
                is_noted = session.get(DeletionRightRow, (record_id, holder)) is not None
                if is_noted or (usage is not None and usage.client == client):
                    return True
        with self._database.writing() as session:
            new = insert_into(session, DeletionRightRow).values(id=record_id, holder=holder)
            session.execute(new.on_conflict_do_nothing())
            exists = _lock(session, record_id)
            if not exists:
                session.execute(delete(DeletionRightRow).where(DeletionRightRow.id == record_id))
        right.is_granted |= exists and not right.is_new
        return exists

    def give_up(
        self, session: Session, record_ids: Sequence[str], holder: str | None, client: str
    ) -> Deleted:
        """Give up the rights of a holder, and return the IDs that may be removed.

        The first ID names a result, the others name its parts, such as its runs. The result is removable with
        all parts if nobody else has submitted or retained any of them, or without a holder.

        Raises:
            NotFound: the result does not exist any more.
            Forbidden: the holder has no right to delete it.
            NotFinished: its job, or the job of a part, is unfinished.
        """
        if not _lock(session, record_ids[0]):
            raise NotFound(f"There is no result {record_ids[0]!r} on this server any more.")
        if holder is None:
            _refuse_at_work(session, record_ids)
            return Deleted(frozenset(record_ids), frozenset())
        own = set(
            session.scalars(
                select(DeletionRightRow.id).where(
                    DeletionRightRow.id.in_(record_ids), DeletionRightRow.holder == holder
                )
            )
        )
        if record_ids[0] not in own:
            raise Forbidden(
                "Only the submitter of a result can delete it. Sign in with the submitting account, or send "
                "the token of the submission in the header Deletion-Token. Otherwise, ask the submitter."
            )
        session.execute(
            delete(DeletionRightRow).where(
                DeletionRightRow.id.in_(record_ids), DeletionRightRow.holder == holder
            )
        )
        _refuse_at_work(session, record_ids)
        held = select(DeletionRightRow.id).where(DeletionRightRow.id.in_(record_ids))
        retained = select(UsageRow.id).where(
            UsageRow.id.in_(record_ids), UsageRow.retained_by.is_not(None), UsageRow.retained_by != client
        )
        of_others = {*session.scalars(held), *session.scalars(retained)}
        if not of_others:
            return Deleted(frozenset(record_ids), frozenset())
        own_parts = frozenset(own - of_others - {record_ids[0]})
        return Deleted(own_parts, frozenset(record_ids) - own_parts)


def _refuse_at_work(session: Session, record_ids: Sequence[str]) -> None:
    if is_leased(session, record_ids):
        raise NotFinished("A job of this result is at work. Cancel it, or wait for its end; then delete.")


def private_rows_of(table: type[Owned], holder: str, limit: int, before: datetime | None) -> Select[Owned]:
    """Return a query for the latest private rows of a table that a holder may delete, newest first."""
    query = (
        select(table)
        .join(DeletionRightRow, DeletionRightRow.id == table.id)
        .where(DeletionRightRow.holder == holder, func.length(table.id) >= PRIVATE_ID)
        .order_by(table.created.desc(), table.id)
        .limit(limit)
    )
    return query if before is None else query.where(table.created < before)


def _lock(session: Session, record_id: str) -> bool:
    """Lock a result against removal and submissions by other transactions. Return whether it exists."""
    return any(
        session.scalar(select(table.id).where(table.id == record_id).with_for_update()) is not None
        for table in (CompilationRow, CollectionRow)
    )
