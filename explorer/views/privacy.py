"""Responses about private results: nobody but the browser keeps them, and no search engine lists them.

A private result is recognized by its ID, so that this also applies to one that does not exist any more. The
key of a private result may name an account: only this one can open it.
"""

from __future__ import annotations

from flask import Flask, Response, request

from explorer.jobs.caller import ADMIN_ROLE
from explorer.services import services
from explorer.store.address import is_private
from explorer.store.sql import not_found
from explorer.views.http import IS_KEPT
from explorer.views.identity import current_account

#: What the key of a result begins with that only one account can open: "account:<name>:<random digits>".
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
    """Return the account that the key of a private result names; "": none."""
    kind, _, rest = key.partition(":")
    return rest.rpartition(":")[0] if kind == ACCOUNT_KEY else ""


def _private_ids() -> list[str]:
    ids = [value for name, value in (request.view_args or {}).items() if name.endswith("_id")]
    return [each for each in (*ids, request.args.get("compilation", "")) if is_private(each)]


def _check_owner() -> None:
    """Check that the account of the current request can open the results that it names.

    Raises:
        NotFound: it cannot, or a result does not exist; nobody else learns which.
    """
    for result_id in _private_ids():
        owner = owner_of(services().store.find(result_id).request.private)
        account = current_account()
        if owner and (account is None or (account.name != owner and ADMIN_ROLE not in account.roles)):
            raise not_found(result_id)


def _protect(response: Response) -> Response:
    if not is_about_private():
        return response
    request.environ.pop(IS_KEPT, None)
    response.headers.update(_HEADERS)
    if not response.cache_control.no_store:
        response.headers["Cache-Control"] = "private, no-cache"
    return response
