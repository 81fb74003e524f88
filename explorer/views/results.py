"""Results of all kinds: delete one's own submissions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import msgspec
from flask import Blueprint, Response, request

from explorer.documents import API
from explorer.documents.sessions import session_of
from explorer.errors import Forbidden, NotFound
from explorer.jobs.caller import ADMIN_ROLE
from explorer.matrix import Matrix
from explorer.services import services
from explorer.store import Collection, Record
from explorer.store.deletion_rights import Deleted, holder_of, holder_of_account
from explorer.views.caller import DELETION_TOKEN, deletion_token
from explorer.views.current_account import client, current_account
from explorer.views.http import json_response
from explorer.views.operation import documented

blueprint = Blueprint("results", __name__, url_prefix=f"{API}/results")

#: The number of runs that are deleted with a compilation. A client cannot submit as many in a day.
_MOST_RUNS = 100_000
#: The jobs that the server starts with the source of a compilation, beside the compilation. `lineage`
#: is stored by workers, for some time, and was stored by earlier versions.
_DERIVED_TASKS = ("llvm-passes", "lineage")


class DeletionDocument(msgspec.Struct, frozen=True):
    """The IDs of the removed results, and of results that stay because others have submitted them, too."""

    removed: list[str]
    kept: list[str]


@blueprint.delete("/<result_id>")
@documented({200: DeletionDocument})
def delete(result_id: str) -> Response:
    """Delete a compilation with its runs, a run, a session with its kernels, or a matrix with its cells.

    The header `Deletion-Token` must have the token of the submission: the token that the request had in this
    header, or else the token in this header of the response. If others have submitted or retained the result
    or one of its runs, the result stays for them, and the token becomes useless. An account needs no token
    for its own submissions, and an account with the role admin deletes everything.
    """
    return json_response(delete_result(result_id))


def delete_result(result_id: str) -> DeletionDocument:
    """Delete a result with its parts and members for the account or the token of the current request.

    Raises:
        Forbidden, NotFound, NotFinished, StoreError: as the store.
        InvalidRequest: there is neither an account nor a token.
    """
    found = _find(result_id)
    members = _members(found) if isinstance(found, Collection) else ()
    removed, kept = set[str](), set[str]()
    for each in (found, *members):
        try:
            done = _delete([each.id, *(() if isinstance(each, Collection) else _parts(each))])
        except (Forbidden, NotFound):
            if each is found:
                raise
            kept.add(each.id)  # a member that others have submitted
        else:
            removed |= done.removed
            kept |= done.kept
    return DeletionDocument(sorted(removed), sorted(kept - removed))


def _find(result_id: str) -> Record | Collection:
    store = services().store
    try:
        return store.find(result_id)
    except NotFound:
        with suppress(NotFound):
            return store.collections.find(result_id)
        raise


def _delete(record_ids: list[str]) -> Deleted:
    """Delete a result with its parts: of the account, or of the holder of the token.

    Raises:
        Forbidden, NotFound, NotFinished, StoreError: as the store.
        InvalidRequest: there is neither an account nor a token.
    """
    store, account = services().store, current_account()
    if account is not None and ADMIN_ROLE in account.roles:
        return store.delete(record_ids, None, client())
    if account is not None:
        try:
            return store.delete(record_ids, holder_of_account(account.name), client())
        except Forbidden:
            if DELETION_TOKEN not in request.headers:
                raise
    return store.delete(record_ids, holder_of(deletion_token()), client())


def _parts(record: Record) -> list[str]:
    """Return the IDs of the parts of a compilation: its runs, and further results from its source."""
    request, store = record.request, services().store
    if request.task not in ("compile", "captured"):
        return []
    derived = [store.known(replace(request, task=task)) for task in _DERIVED_TASKS]
    if request.task == "captured":
        return [each.id for each in derived if each is not None]
    runs = [run for imported in (False, True) for run in store.runs(request, _MOST_RUNS, imported=imported)]
    return [each.id for each in (*derived, *runs) if each is not None]


def _members(collection: Collection) -> Iterator[Record]:
    """Yield the kernels of a session, or the cells of a matrix, as far as they exist."""
    store = services().store
    match collection.kind:
        case "session":
            for kernel in session_of(collection.content).kernels:
                for compilation in filter(None, (kernel.compilation, kernel.again)):
                    with suppress(NotFound):
                        yield store.find(compilation)
        case "matrix":
            for cell in Matrix.of(collection.content).cells:
                if (found := store.known(cell.request)) is not None:
                    yield found
