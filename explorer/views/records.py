"""Find compilations, runs, sessions and matrices by their IDs.

The IDs have one form, so each function checks the kind of the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from explorer.documents import ApiLinks, RunLinks
from explorer.documents.sessions import session_url
from explorer.errors import NotFound
from explorer.jobs.caller import current_caller
from explorer.matrix import matrix_url
from explorer.services import services
from explorer.store import Collection, CollectionKind, Record, compilation_of
from explorer.views.current_account import client

_PAGES: Mapping[CollectionKind, Callable[[str], str]] = {"session": session_url, "matrix": matrix_url}


def find_compilation(compilation_id: str) -> Record:
    """Return a compilation by its ID. An unfinished compilation whose job has ended is started again.

    Raises:
        NotFound: no compilation has this ID.
        QueueFull: the compilation has to be started again, and too many jobs wait.
    """
    return _only_compilation(compilation_id, services().queue.find)


def stored_compilation(compilation_id: str) -> Record:
    """Return a compilation by its ID, as it is stored.

    Raises:
        NotFound: no compilation has this ID.
    """
    return _only_compilation(compilation_id, services().store.find)


def _only_compilation(result_id: str, find: Callable[[str], Record]) -> Record:
    """Return a compilation.

    Raises:
        NotFound: there is none with this ID. If it is a run, a session or a matrix, the message has its
            address.
    """
    try:
        record = find(result_id)
    except NotFound as error:
        try:
            kind = services().store.collections.find(result_id).kind
        except NotFound:
            raise error from None
        page = _PAGES[kind](result_id)
        raise NotFound(f"{result_id!r} is a {kind}, not a compilation. Its address is {page}.") from None
    if record.request.run is None:
        return record
    compilation = services().store.known(compilation_of(record.request))
    address = RunLinks().run(record.id)
    if compilation is not None:
        address += f", and the page shows it at {ApiLinks(compilation.id).page}#panes=run:{record.id}"
    raise NotFound(f"{record.id!r} is a run, not a compilation. Its address is {address}.")


def stored_session(session_id: str) -> Collection:
    """Return a session by its ID.

    Raises:
        NotFound: no session has this ID.
    """
    return _stored("session", session_id)


def stored_matrix(matrix_id: str) -> Collection:
    """Return a matrix by its ID.

    Raises:
        NotFound: no matrix has this ID.
    """
    return _stored("matrix", matrix_id)


def _stored(kind: CollectionKind, collection_id: str) -> Collection:
    missing = f"There is no {kind} {collection_id!r} on this server. Check the link."
    try:
        found = services().store.collections.find(collection_id)
    except NotFound as error:
        raise NotFound(missing) from error
    if found.kind != kind:
        raise NotFound(missing)
    return found


def store_collection(kind: CollectionKind, content: bytes, private: str) -> Collection:
    """Store a session or a matrix for the caller. Equal ones are stored once.

    Raises:
        StoreFull: the disk or a quota is full.
    """
    right = current_caller().deletion_right
    return services().store.collections.put(kind, content, private, client(), right)


def stored_run(run_id: str) -> Record:
    """Return a run of this server, as it is stored.

    Raises:
        NotFound: no run has this ID.
    """
    try:
        record = services().store.find(run_id)
    except NotFound as error:
        raise NotFound(f"There is no run {run_id!r} on this server. Check the link.") from error
    if record.request.run is None:
        raise NotFound(f"{run_id!r} is a compilation, not a run. Its address is {ApiLinks(run_id).api}.")
    return record
