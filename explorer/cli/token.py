"""`token`: make, list and revoke API tokens, in the database of a server."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from explorer.cli.tools import Commands, add_command, add_group, printable
from explorer.errors import InvalidRequest
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.store import Store

_ROLES = ("gpu", "admin")


def add(commands: Commands) -> None:
    actions = add_group(commands, "token", "make, list and revoke API tokens of accounts")
    making = add_command(actions, "add", run_add, "make a token, and print it once")
    making.add_argument("account", metavar="NAME", help="name of the account")
    making.add_argument(
        "--role", action="append", default=[], choices=_ROLES, help="role of the token; may be repeated"
    )
    add_command(actions, "list", run_list, "list the tokens: ID, day, end, last use, roles, account and name")
    revoking = add_command(actions, "revoke", run_revoke, "revoke a token")
    revoking.add_argument("id", metavar="ID", help="ID of the token, as listed")


def run_add(options: argparse.Namespace) -> int:
    with closing(_store()) as store:
        token, _ = store.tokens.add(options.account, options.role)
    print(token)
    return 0


def run_list(_options: argparse.Namespace) -> int:
    """Print one line for each token."""
    with closing(_store()) as store:
        for each in store.tokens.all():
            roles = ",".join(sorted(each.roles)) or "user"
            days = (each.created, each.expires, each.used)
            dates = "  ".join(f"{day:%Y-%m-%d}" if day else "never     " for day in days)
            name = f"  {printable(each.name)}" if each.name else ""
            print(f"{each.id}  {dates}  {roles:9}  {printable(each.account)}{name}")
    return 0


def run_revoke(options: argparse.Namespace) -> int:
    """Revoke a token.

    Raises:
        InvalidRequest: no token has this ID.
    """
    with closing(_store()) as store:
        if not store.tokens.revoke(options.id):
            raise InvalidRequest(f"There is no token {options.id}. `triton-explorer token list` lists them.")
    return 0


def _store() -> Store:
    from explorer.services import open_store_of  # slow to import

    return open_store_of(Settings.from_environment())
