"""The caller of a request, its urgency, and the cancellation of a job."""

from __future__ import annotations

import msgspec
from flask import Flask, Response, g, request
from werkzeug.http import parse_dict_header

from explorer.errors import InvalidRequest
from explorer.jobs.caller import Caller, Urgency, current_caller, work_for
from explorer.queries import Parameter
from explorer.services import services
from explorer.store import Record
from explorer.store.deletion_rights import DeletionRight, holder_of, holder_of_account, new_token
from explorer.views.current_account import client, current_account
from explorer.views.http import json_response
from explorer.views.request_ids import work_context

FOLLOWER = Parameter(
    "follower",
    str,
    "A name that a page or program chooses. A caller that submits a job, reads its events, or gives its name "
    "when it polls the job follows it, and the last follower to cancel the job ends it. By default, all "
    "programs of a client are one follower.",
)
LIVE = Parameter(
    "live",
    bool,
    '"1": typing caused the request, and nobody has pressed a button for it. The job starts after '
    "the jobs that users wait for, and ends the live jobs of the same follower. The result is removed an "
    "hour after its last use, unless somebody opens it, shares it, or submits it without this parameter.",
)
#: The description of the header.
PRIORITY = (
    "The urgency of the job, as in RFC 9218: from u=0 to u=7, by default u=3. From u=4 on, the job belongs "
    "to a batch, and interactive jobs start before it."
)
#: The header with the secret token of a submission, which deletes its result.
DELETION_TOKEN = "Deletion-Token"  # noqa: S105  not a token itself
_SHORTEST_TOKEN = 22
_LONGEST_TOKEN = 200
_LONGEST_NAME = 100
_DEFAULT_URGENCY = "3"
_BATCH = ("4", "5", "6", "7")


def recognize_callers(app: Flask) -> None:
    """Set the caller of each request for the thread that answers it."""
    app.before_request(_begin)
    app.after_request(_give_token)
    app.teardown_request(_end)


def _begin() -> None:
    g.caller_before = current_caller()
    name = "".join(filter(str.isprintable, request.args.get(FOLLOWER.name, "")))[:_LONGEST_NAME]
    right = _deletion_right() if request.method == "POST" else None
    account = current_account()
    roles = frozenset[str]() if account is None else account.roles
    work_for(Caller(client(), f"{client()} {name}", _urgency(), right, roles, work_context()))


def _deletion_right() -> DeletionRight:
    """Return the right to delete the current submission: of its account, by its token, or by a new token."""
    if (account := current_account()) is not None:
        return DeletionRight(holder_of_account(account.name))
    if DELETION_TOKEN in request.headers:
        return DeletionRight(holder_of(deletion_token()))
    g.new_token = new_token()
    return DeletionRight(holder_of(g.new_token), is_new=True)


def _give_token(response: Response) -> Response:
    """Send the new token to the client, if the token can delete something."""
    right = current_caller().deletion_right
    if right is not None and right.is_new and right.is_granted:
        response.headers[DELETION_TOKEN] = g.new_token
    return response


def deletion_token() -> str:
    """Return the token in the current request.

    Raises:
        InvalidRequest: there is no token, or it could be guessed.
    """
    token = request.headers.get(DELETION_TOKEN, "")
    if not _SHORTEST_TOKEN <= len(token) <= _LONGEST_TOKEN:
        raise InvalidRequest(
            f"The header {DELETION_TOKEN} must have a secret of {_SHORTEST_TOKEN} to {_LONGEST_TOKEN} random "
            "characters."
        )
    return token


def _end(_error: BaseException | None) -> None:
    work_for(g.pop("caller_before", Caller()))  # a saved page sends requests in the thread of another request


def _urgency() -> Urgency:
    if request.args.get(LIVE.name) == "1":
        return Urgency.LIVE
    return Urgency.BATCH if is_batch(request.headers.get("Priority", "")) else Urgency.INTERACTIVE


def is_batch(priority: str) -> bool:
    """Return whether a `Priority` header, such as "u=5", declares a low urgency."""
    urgency = parse_dict_header(priority).get("u") or _DEFAULT_URGENCY
    return urgency in _BATCH


class FollowersDocument(msgspec.Struct, frozen=True):
    """The number of other followers of a job that continues."""

    followers: int


def follow_job(record: Record) -> None:
    """Let the caller that the current request names follow the job of a record."""
    if FOLLOWER.name in request.args and not record.is_finished:
        services().queue.poll(record.id)


def cancel_job(record: Record) -> Response:
    """Cancel the job of a record, as far as the caller of the current request may."""
    followers = services().queue.cancel(record.id)
    return json_response(FollowersDocument(followers), 202) if followers else Response(status=204)
