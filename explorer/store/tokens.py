"""API tokens of accounts. The database only has a hash of each, so nobody can read a token from it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, select

from explorer.errors import InvalidRequest, StoreError
from explorer.store.clock import NowUtc
from explorer.store.database import Database, changed_rows
from explorer.store.deletion_rights import holder_of, new_token
from explorer.store.tables import LONGEST_ACCOUNT, TokenRow

#: The prefix of tokens: other tokens in the same header are not for this server.
TOKEN_PREFIX = "te_"  # noqa: S105  not a token itself
#: The most tokens of one account.
MOST_TOKENS = 50
_ID_BYTES = 4
#: The minimum time between two stored uses of a token.
_USE_PRECISION = timedelta(minutes=5)
#: Rows, with the time of the database.
_ROWS = select(TokenRow, NowUtc())


@dataclass(frozen=True)
class Token:
    """The properties of a token, without the token itself.

    `name` is chosen by the account. The token ends at `expires`; None: never. `is_expired` says whether it
    has ended by the clock of the database. `used` is when it was last sent, up to five minutes before; None:
    never.
    """

    id: str
    account: str
    roles: frozenset[str]
    created: datetime
    name: str = ""
    expires: datetime | None = None
    used: datetime | None = None
    is_expired: bool = False


class Tokens:
    """The tokens in a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self, account: str, roles: Iterable[str] = (), name: str = "", lifetime: timedelta | None = None
    ) -> tuple[str, Token]:
        """Make a token and return it with its properties. It cannot be shown again.

        Raises:
            InvalidRequest: the name of the account is empty, or one of the names is too long or has control
                characters; or the account has too many tokens.
            StoreError: the token cannot be stored.
        """
        check_account(account)
        if len(name) > LONGEST_ACCOUNT or not name.isprintable():
            raise InvalidRequest(
                f"The name of a token has at most {LONGEST_ACCOUNT} printable characters, got {name[:60]!r}."
            )
        token = TOKEN_PREFIX + new_token()
        now = self._database.now()
        expires = None if lifetime is None else now + lifetime
        made = Token(secrets.token_hex(_ID_BYTES), account, frozenset(roles), now, name, expires)
        with self._database.writing() as session:
            count = session.scalar(
                select(func.count()).select_from(TokenRow).where(TokenRow.account == account)
            )
            if count is not None and count >= MOST_TOKENS:
                raise InvalidRequest(
                    f"The account has {count} tokens, which is the maximum. Revoke one of them."
                )
            session.add(
                TokenRow(
                    id=made.id,
                    holder=holder_of(token),
                    account=account,
                    roles=" ".join(sorted(made.roles)),
                    created=made.created,
                    name=name,
                    expires=expires,
                )
            )
        return token, made

    def find(self, token: str) -> Token | None:
        """Return the properties of a token, and note its use; None if it is unknown, expired or revoked.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            found = session.execute(_ROWS.where(TokenRow.holder == holder_of(token))).one_or_none()
        if found is None:
            return None
        row, now = found
        if (known := _token(row, now)).is_expired:
            return None
        self._note_use(known, now)
        return known

    def all(self) -> list[Token]:
        """Return all tokens, by account.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._database.reading() as session:
            rows = session.execute(_ROWS.order_by(TokenRow.account, TokenRow.created))
            return [_token(*each) for each in rows]

    def of(self, account: str) -> list[Token]:
        """Return the tokens of an account, newest first.

        Raises:
            StoreError: the database cannot be read.
        """
        rows = _ROWS.where(TokenRow.account == account).order_by(TokenRow.created.desc())
        with self._database.reading() as session:
            return [_token(*each) for each in session.execute(rows)]

    def revoke(self, token_id: str, account: str | None = None) -> bool:
        """Revoke a token, of this account if one is given. Return whether a token with this ID existed.

        Raises:
            StoreError: the database cannot be written.
        """
        query = delete(TokenRow).where(TokenRow.id == token_id)
        if account is not None:
            query = query.where(TokenRow.account == account)
        with self._database.writing() as session:
            return changed_rows(session.execute(query)) > 0

    def _note_use(self, token: Token, now: datetime) -> None:
        """Store when a token was used. A failure is ignored, because the holder does not depend on it."""
        if token.used is not None and now - token.used < _USE_PRECISION:
            return
        with suppress(StoreError), self._database.writing() as session:
            row = session.get(TokenRow, token.id)
            if row is not None:
                row.used = now


def check_account(name: str) -> None:
    """Check the name of an account.

    Raises:
        InvalidRequest: the name is empty, too long, or has control characters.
    """
    if not name.strip() or len(name) > LONGEST_ACCOUNT or not name.isprintable():
        raise InvalidRequest(
            f"The name of an account has 1 to {LONGEST_ACCOUNT} printable characters, got {name[:60]!r}."
        )


def _token(row: TokenRow, now: datetime) -> Token:
    is_expired = row.expires is not None and row.expires <= now
    roles = frozenset(row.roles.split())
    return Token(row.id, row.account, roles, row.created, row.name, row.expires, row.used, is_expired)
