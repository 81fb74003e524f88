"""API tokens of accounts. The database has a hash of each, so that nobody can read a token from it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import delete, select

from explorer.errors import InvalidRequest
from explorer.store.claims import holder_of, new_token
from explorer.store.database import Database, changed_rows
from explorer.store.tables import LONGEST_ACCOUNT, TokenRow

#: What tokens begin with: other tokens in the same header are not for this server.
TOKEN_PREFIX = "te_"  # noqa: S105  not a token itself
_ID_BYTES = 4


@dataclass(frozen=True)
class Token:
    """What is known of a token: all but the token itself."""

    id: str
    account: str
    roles: frozenset[str]
    created: datetime


class Tokens:
    """The tokens in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, account: str, roles: Iterable[str]) -> tuple[str, Token]:
        """Make a token and return it, which is not possible later, and what is known of it.

        Raises:
            InvalidRequest: the name of the account is empty, too long, or has control characters.
            StoreError: it cannot be stored.
        """
        check_account(account)
        token = TOKEN_PREFIX + new_token()
        made = Token(secrets.token_hex(_ID_BYTES), account, frozenset(roles), datetime.now(UTC))
        with self._database.writing() as session:
            session.add(
                TokenRow(
                    id=made.id,
                    holder=holder_of(token),
                    account=account,
                    roles=" ".join(sorted(made.roles)),
                    created=made.created,
                )
            )
        return token, made

    def find(self, token: str) -> Token | None:
        """Return what is known of a token; None if it does not exist or was revoked.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            row = session.scalar(select(TokenRow).where(TokenRow.holder == holder_of(token)))
        return None if row is None else _token(row)

    def all(self) -> list[Token]:
        """Return all tokens, by account.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            rows = session.scalars(select(TokenRow).order_by(TokenRow.account, TokenRow.created))
            return [_token(row) for row in rows]

    def revoke(self, token_id: str) -> bool:
        """Revoke a token. Return whether there was one with this ID.

        Raises:
            StoreError: the database cannot be written.
        """
        with self._database.writing() as session:
            return changed_rows(session.execute(delete(TokenRow).where(TokenRow.id == token_id))) > 0


def check_account(name: str) -> None:
    """Check the name of an account.

    Raises:
        InvalidRequest: it is empty, too long, or has control characters.
    """
    if not name.strip() or len(name) > LONGEST_ACCOUNT or not name.isprintable():
        raise InvalidRequest(
            f"The name of an account has 1 to {LONGEST_ACCOUNT} printable characters, got {name[:60]!r}."
        )


def _token(row: TokenRow) -> Token:
    return Token(row.id, row.account, frozenset(row.roles.split()), row.created)
