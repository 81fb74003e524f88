"""The page of a user's own account at `/account`: roles, time on GPUs, API tokens and private results.

The page needs no script. Only people who have signed in can open it: an API token cannot create other tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from explorer.documents import ApiLinks
from explorer.documents.sessions import session_of, session_url
from explorer.errors import Forbidden, InvalidRequest, NotFound, Unauthorized
from explorer.matrix import Matrix, matrix_url
from explorer.model.hardware import find_target
from explorer.services import gpu_rules_of, services
from explorer.store import Collection, Record, Store
from explorer.store.deletion_rights import holder_of_account
from explorer.store.tables import LONGEST_ACCOUNT
from explorer.views.accounts import account_of_page
from explorer.views.current_account import Account, client, current_account
from explorer.views.pages import bundle
from explorer.views.privacy import owner_of
from explorer.views.results import delete_result
from explorer.views.visible import visible

blueprint = Blueprint("account_page", __name__)

#: The first page of the list of results, and each further page, have this many rows.
_RESULTS = 50
#: The lifetimes of a token, in days.
_LIFETIMES = {7: "7 days", 30: "30 days", 90: "90 days", 365: "1 year"}
_DEFAULT_LIFETIME = 90
_NOTICES = {
    "revoked": "The token is revoked. Programs that use it are refused from this moment on.",
    "deleted": "The result is deleted. Its link does not work any more.",
    "kept": "The result stays for other clients, who have submitted or retained it. You no longer own it.",
}


@dataclass(frozen=True)
class OwnResult:
    """A row of the list. `is_own`: only the account can open it; otherwise, the link suffices to open it."""

    id: str
    url: str
    title: str
    facts: str
    created: datetime
    is_own: bool


@blueprint.get("/account")
def show() -> Response:
    """Return the page of the signed-in account."""
    return _page(_signed_in(), notice=_NOTICES.get(request.args.get("done", "")))


@blueprint.post("/account/tokens")
def add_token() -> Response:
    """Make an API token, and show it this one time."""
    account, name = _signed_in(), request.form.get("name", "").strip()
    if not name:
        raise InvalidRequest(
            "The token needs a name, so that you can later tell which program uses it. Go back and enter one."
        )
    days = request.form.get("days", "")
    if days not in map(str, _LIFETIMES):
        raise InvalidRequest(f"A token lasts {', '.join(map(str, _LIFETIMES))} days, got {days[:20]!r}.")
    token, _ = services().store.tokens.add(account.name, name=name, lifetime=timedelta(days=int(days)))
    return _page(account, new_token=token, new_name=name)


@blueprint.post("/account/tokens/<token>/revocation")
def revoke_token(token: str) -> AnyResponse:
    """Revoke an API token of the account, by its ID."""
    if not services().store.tokens.revoke(token, _signed_in().name):
        raise NotFound("Your account has no such token: it was revoked before. Go back to your account.")
    return _done("revoked")


@blueprint.post("/account/results/<result_id>/deletion")
def remove_result(result_id: str) -> AnyResponse:
    """Delete a result of the account."""
    _signed_in()
    return _done("deleted" if result_id in delete_result(result_id).removed else "kept")


def _signed_in() -> Account:
    """Return the account of the person who sends the current request.

    Raises:
        NotFound: the server has no accounts that people can sign in with.
        Unauthorized: nobody is signed in.
        Forbidden: a program sends the request, with an API token.
    """
    settings = services().settings
    if not settings.has_accounts:
        raise NotFound(f"There is no page at {request.path}: this server has no accounts to sign in with.")
    account = current_account()
    if account is None:
        where = "" if settings.oidc_issuer else " at the proxy in front of this server"
        raise Unauthorized(f"Sign in{where} to see your account.")
    if not account.has_signed_in:
        raise Forbidden("An API token does not open this page. Sign in with a browser.")
    return account


def _page(account: Account, **more: object) -> Response:
    here, rules = services(), gpu_rules_of(services().settings)
    before = _time(request.args.get("before", ""))
    results = _private_results(here.store, holder_of_account(account.name), before)
    values = {
        **account_of_page(),
        "roles": sorted(account.roles) or ["user"],
        "gpu_refusal": here.queue.refusal("gpu"),
        "has_gpus": bool(here.gpus),
        "gpu_day_seconds": rules.day_seconds,
        "gpu_seconds": here.store.gpu_time.seconds(client()) if rules.day_seconds else 0.0,
        "tokens": here.store.tokens.of(account.name),
        "longest_name": LONGEST_ACCOUNT,
        "lifetimes": _LIFETIMES,
        "default_lifetime": _DEFAULT_LIFETIME,
        "results": list(_own_results(results)),
        "is_first": before is None,
        "older": results[-1].created.isoformat() if len(results) == _RESULTS else None,
        **more,
    }
    response = Response(render_template("account.html", bundle=bundle, host="site", preview=None, **values))
    response.headers["Cache-Control"] = "private, no-store"
    return response


def _done(what: str) -> AnyResponse:
    return redirect(url_for("account_page.show", done=what), 303)


def _time(text: str) -> datetime | None:
    """Return the end time of the list from the query string; None: there is none.

    Raises:
        InvalidRequest: the text is not a time with a zone.
    """
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = datetime.min
    if time.tzinfo is None:
        raise InvalidRequest(
            f"'before' must be a time, such as 2026-01-31T12:00:00+00:00, got {text[:50]!r}."
        )
    return time.astimezone(UTC)


def _private_results(store: Store, holder: str, before: datetime | None) -> list[Record | Collection]:
    """Return the latest private results and collections of a holder, newest first."""
    found: list[Record | Collection] = [
        *store.private_results(holder, _RESULTS, before),
        *store.collections.private(holder, _RESULTS, before),
    ]
    return sorted(found, key=lambda each: each.created, reverse=True)[:_RESULTS]


def _own_results(results: list[Record | Collection]) -> Iterator[OwnResult]:
    """Yield the rows of the results with a page: compilations, sessions and matrices."""
    for result in results:
        match result:
            case Record(request=asked) if asked.task in ("compile", "captured"):
                url, title = ApiLinks(result.id).page, result.kernel or "Kernel"
                status = "" if result.status == "complete" else f" · {result.status.replace('_', ' ')}"
                facts = f"{find_target(asked.target).title} · Triton {asked.triton}{status}"
                key = asked.private
            case Collection(kind="session", content=content, private=key):
                session = session_of(content)
                url, title = session_url(result.id), session.title or "Session"
                facts = f"session of {_plural(len(session.kernels), 'kernel')}"
            case Collection(kind="matrix", content=content, private=key):
                matrix = Matrix.of(content)
                url, title = matrix_url(result.id), matrix.request.kernel or "Matrix"
                facts = f"matrix of {_plural(len(matrix.cells), 'compilation')}"
            case _:
                continue
        yield OwnResult(result.id, url, visible(title), facts, result.created, bool(owner_of(key)))


def _plural(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
