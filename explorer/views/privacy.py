"""Responses about private results: only the browser may cache them, and no search engine lists them.

A private result is recognized by its ID, so this also applies to deleted private results. The key of a
private result may name an account: then only this account can open it.
"""

from __future__ import annotations

from flask import Flask, Response, request

from explorer.errors import NotFound
from explorer.jobs.caller import ADMIN_ROLE
from explorer.services import services
from explorer.store.address import is_private
from explorer.store.sql import not_found
from explorer.views.current_account import current_account
from explorer.views.http import IS_KEPT

#: The prefix of the key of a result that only one account can open: "account:<name>:<random digits>".
ACCOUNT_KEY = "account"
_HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


def protect_private(app: Flask) -> None:
    """Protect all responses of an application that are about private results."""
    app.before_request(_check_owner)
    app.after_request(_protect)


def is_about_private() -> bool:
    """Return whether the current request names a private result."""
    return bool(_private_ids())


def owner_of(key: str) -> str:
    """Return the account that the key of a private result names; "": no account."""
    kind, _, rest = key.partition(":")
    return rest.rpartition(":")[0] if kind == ACCOUNT_KEY else ""


def _private_ids() -> list[str]:
    ids = [value for name, value in (request.view_args or {}).items() if name.endswith("_id")]
    return [each for each in (*ids, request.args.get("compilation", "")) if is_private(each)]


def _check_owner() -> None:
    """Check that the account of the current request can open the results that its address names."""
    check_can_open(*_private_ids())


def check_can_open(*result_ids: str) -> None:
    """Check that the account of the current request can open results, as far as they are private.

    Raises:
        NotFound: it cannot, or a private result does not exist; the error does not distinguish the two.
    """
    for result_id in filter(is_private, result_ids):
        try:
            key = services().store.private_key(result_id)
        except NotFound as error:
            raise _no_private(result_id) from error
        owner, account = owner_of(key), current_account()
        if owner and (account is None or (account.name != owner and ADMIN_ROLE not in account.roles)):
            raise _no_private(result_id)


def _no_private(result_id: str) -> NotFound:
    """Return the error for a private result that does not exist, or that the current request cannot open."""
    if not services().settings.has_accounts:
        return not_found(result_id)
    account = current_account()
    remedy = (
        f"You are signed in as {account.name}. If the result is yours, sign in with the account that made it."
        if account
        else "If the result is yours, sign in."
    )
    return NotFound(
        f"There is no private result {result_id!r}, or only the account of its owner can open it. Check the "
        f"link. {remedy} Otherwise, ask its owner for a private link; the owner may also have deleted it."
    )


def _protect(response: Response) -> Response:
    if not is_about_private():
        return response
    request.environ.pop(IS_KEPT, None)
    response.headers.update(_HEADERS)
    if not response.cache_control.no_store:
        response.headers["Cache-Control"] = "private, no-cache"
    return response
