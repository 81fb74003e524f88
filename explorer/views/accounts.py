"""Accounts: the account of a request, and signing in with OpenID Connect."""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec
from flask import Blueprint, Flask, Response, current_app, redirect, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from explorer.documents import API
from explorer.errors import ExplorerError, NotFound, SettingsError, Unauthorized, Unavailable
from explorer.services import services
from explorer.settings import Settings
from explorer.store.tables import LONGEST_ACCOUNT
from explorer.views.current_account import SESSION_ACCOUNT, current_account
from explorer.views.http import json_response
from explorer.views.operation import documented

if TYPE_CHECKING:
    from authlib.integrations.flask_client import FlaskOAuth2App

blueprint = Blueprint("accounts", __name__)

_PROVIDER = "triton-explorer-oidc"
#: The field of the session with the page to show after the login.
_SESSION_PAGE = "page"
#: Pages of this server. Browsers take "//host" and "/\\host" for other servers.
_PAGE = re.compile(r"/(?:[\w.-][\w.,/-]*)?", re.ASCII)
_SESSION_HOURS = 12
_KEY_BYTES = 32


class AccountDocument(msgspec.Struct, frozen=True):
    """The signed-in account; `name` is null if nobody is. `login_url` is null if nobody can sign in."""

    name: str | None
    roles: list[str]
    login_url: str | None


def use_accounts(app: Flask, settings: Settings) -> None:
    """Let an application sign users in, if a provider is configured.

    Raises:
        SettingsError: the library for OpenID Connect is not installed.
    """
    if not settings.oidc_issuer:
        return
    try:
        from authlib.integrations.flask_client import OAuth
    except ImportError as error:
        raise SettingsError(
            "The library for OpenID Connect is not installed. Install triton-explorer[oidc]."
        ) from error
    app.secret_key = _session_key(settings.data_dir)
    app.config.update(
        SESSION_COOKIE_NAME="triton-explorer",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.public_url.startswith("https://"),
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(hours=_SESSION_HOURS),
    )
    oauth = OAuth(app)
    app.extensions[_PROVIDER] = oauth.register(
        "oidc",
        client_id=settings.oidc_client_id,
        client_secret=settings.oidc_client_secret or None,
        server_metadata_url=f"{settings.oidc_issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256", "timeout": 10},
    )


def account_of_page() -> dict[str, Any]:
    """Return the variables of the page about accounts; none, if accounts are off."""
    account = current_account()
    return {"account": account.name if account else None, "can_sign_in": can_sign_in()}


def can_sign_in() -> bool:
    """Return whether a provider is configured."""
    return _PROVIDER in current_app.extensions


def login_url(page: str = "/") -> str | None:
    """Return the sign-in address, which then leads to a page; None: not possible, or already signed in."""
    with suppress(ExplorerError):  # such as an unknown token
        if can_sign_in() and current_account() is None:
            return url_for("accounts.login", page=page) if page != "/" else url_for("accounts.login")
    return None


@blueprint.get(f"{API}/account")
@documented({200: AccountDocument})
def show() -> Response:
    """Return the account of the request, and where to sign in."""
    account = current_account()
    response = json_response(
        AccountDocument(
            account.name if account else None,
            sorted(account.roles) if account else [],
            "/login" if can_sign_in() else None,
        )
    )
    response.headers["Cache-Control"] = "private, no-store"
    return response


@blueprint.get("/login")
def login() -> AnyResponse:
    """Send the browser to the provider, and then to the page that `page` names."""
    from authlib.common.errors import AuthlibBaseError
    from requests import RequestException

    provider = _provider()
    address = f"{services().settings.public_url.rstrip('/')}/login/return"
    page = request.args.get("page", "")
    session[_SESSION_PAGE] = page if _PAGE.fullmatch(page) else "/"
    try:
        return cast(AnyResponse, provider.authorize_redirect(address))
    except (AuthlibBaseError, RequestException, ValueError) as error:
        raise Unavailable("The provider of accounts does not answer. Try again in a minute.") from error


@blueprint.get("/login/return")
def end_login() -> AnyResponse:
    """Check the provider's answer about the user, and begin a session."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    provider = _provider()
    try:
        user: dict[str, Any] = provider.authorize_access_token().get("userinfo") or {}
    except RequestException as error:
        raise Unavailable("The provider of accounts does not answer. Try again in a minute.") from error
    except (AuthlibBaseError, JoseError, ValueError, KeyError) as error:
        raise Unauthorized("The provider has not confirmed who you are. Sign in again.") from error
    claim = services().settings.oidc_claim
    name = user.get(claim)
    if claim == "email" and user.get("email_verified") is not True:
        raise Unauthorized("The provider has not verified your email address, which names your account here.")
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_ACCOUNT or not name.isprintable():
        raise Unauthorized(
            f"The provider has named no account: {claim!r} must have 1 to {LONGEST_ACCOUNT} characters."
        )
    page = session.get(_SESSION_PAGE, "/")
    session.clear()
    session.permanent = True
    session[SESSION_ACCOUNT] = name
    return redirect(page)


@blueprint.post("/logout")
def logout() -> AnyResponse:
    """End the session."""
    _provider()
    session.clear()
    return redirect("/", 303)


def _provider() -> FlaskOAuth2App:
    if not can_sign_in():
        raise NotFound(f"There is no page at {request.path}: this server has no accounts to sign in with.")
    return cast("FlaskOAuth2App", current_app.extensions[_PROVIDER])


def _session_key(folder: Path) -> bytes:
    """Return the key that signs sessions, and create it once: servers with one data folder share it."""
    file = folder / "session.key"
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        new = file.with_suffix(f".{os.getpid()}")
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as written:
            written.write(secrets.token_bytes(_KEY_BYTES))
        try:
            os.link(new, file)  # an existing key stays, and is complete
        finally:
            new.unlink()
    return file.read_bytes()
