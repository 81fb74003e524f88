"""The account of the current request, and the client that its limits apply to.

An account is identified by an API token, by the header of a trusted proxy, or by a session of OpenID Connect.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import g, request, session

from explorer.errors import InvalidRequest, Unauthorized
from explorer.services import services
from explorer.store.tokens import TOKEN_PREFIX, check_account
from explorer.views.client import client_of, is_proxy

#: The field of the session that names the account.
SESSION_ACCOUNT = "account"


@dataclass(frozen=True)
class Account:
    """An account and its roles. `has_signed_in`: a person has signed in; otherwise, a token was sent."""

    name: str
    roles: frozenset[str]
    has_signed_in: bool


def current_account() -> Account | None:
    """Return the account of the current request, or None.

    Raises:
        Unauthorized: the token is unknown.
        InvalidRequest: the proxy has sent an invalid name.
    """
    if "account" not in g:
        g.account = _account()
    found: Account | None = g.account
    return found


def client() -> str:
    """Return the client for limits: the account of the current request, or else its address."""
    account = current_account()
    if account is not None:
        return f"account {account.name}"
    forwarded = request.headers.get("X-Forwarded-For", "")
    return client_of(request.remote_addr or "", forwarded, services().settings.trusted_proxies)


def _account() -> Account | None:
    settings = services().settings
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.startswith(TOKEN_PREFIX):
        found = services().store.tokens.find(token)
        if found is None:
            raise Unauthorized(
                "This API token is unknown, has expired, or was revoked. Make a new token at /account, or "
                "ask the server administrator for one."
            )
        return Account(found.account, found.roles | settings.roles_of(found.account), has_signed_in=False)
    name = ""
    if settings.account_header and is_proxy(request.remote_addr or "", settings.trusted_proxies):
        name = _decoded(request.headers.get(settings.account_header, ""))
    elif settings.oidc_issuer:
        name = session.get(SESSION_ACCOUNT, "")
    if not name:
        return None
    check_account(name)
    return Account(name, settings.roles_of(name), has_signed_in=True)


def _decoded(name: str) -> str:
    """Return a header in UTF-8. WSGI has the bytes of headers as characters of Latin-1.

    Raises:
        InvalidRequest: the header is not UTF-8.
    """
    try:
        return name.encode("latin-1").decode()
    except UnicodeError as error:
        raise InvalidRequest("The name of the account is not UTF-8.") from error
