"""Find compilations, runs, sessions and matrices by their IDs.

The IDs have one form, so each function checks the kind of the record.
"""

from __future__ import annotations

from explorer.documents import ApiLinks, RunLinks
from explorer.documents.sessions import TASK as SESSION
from explorer.documents.sessions import session_url
from explorer.errors import NotFound
from explorer.jobs.caller import current_caller
from explorer.matrix import TASK as MATRIX
from explorer.matrix import matrix_url
from explorer.model import Done, Request
from explorer.services import services
from explorer.store import Record, compilation_of
from explorer.views.identity import client


def find_compilation(compilation_id: str) -> Record:
    """Return a compilation by its ID. An unfinished compilation whose job has ended is started again.

    Raises:
        NotFound: no compilation has this ID.
        QueueFull: the compilation has to be started again, and too many jobs wait.
    """
    return only_compilation(services().queue.find(compilation_id))


def stored_compilation(compilation_id: str) -> Record:
    """Return a compilation by its ID, as it is stored.

    Raises:
        NotFound: no compilation has this ID.
    """
    return only_compilation(services().store.find(compilation_id))


def only_compilation(record: Record) -> Record:
    """Return the record if it is a compilation.

    Raises:
        NotFound: the record is a run, a session or a matrix; the message has its addresses.
    """
    pages = {SESSION: session_url, MATRIX: matrix_url}
    if (page_of := pages.get(record.request.task)) is not None:
        kind, page = record.request.task, page_of(record.id)
        raise NotFound(f"{record.id!r} is a {kind}, not a compilation. Its address is {page}.")
    if record.request.run is None:
        return record
    compilation = services().store.known(compilation_of(record.request))
    address = RunLinks().run(record.id)
    if compilation is not None:
        address += f", and the page shows it at {ApiLinks(compilation.id).page}#panes=run:{record.id}"
    raise NotFound(f"{record.id!r} is a run, not a compilation. Its address is {address}.")


def stored_session(session_id: str) -> Record:
    """Return a session by its ID.

    Raises:
        NotFound: no session has this ID.
    """
    return _stored(SESSION, session_id)


def stored_matrix(matrix_id: str) -> Record:
    """Return a matrix by its ID.

    Raises:
        NotFound: no matrix has this ID.
    """
    return _stored(MATRIX, matrix_id)


def _stored(task: str, record_id: str) -> Record:
    missing = f"There is no {task} {record_id!r} on this server. Check the link."
    try:
        record = services().store.find(record_id)
    except NotFound as error:
        raise NotFound(missing) from error
    if record.request.task != task:
        raise NotFound(missing)
    return record


def store_request(request: Request) -> Record:
    """Store a request that needs no job, such as a session. Equal requests are stored once.

    Raises:
        StoreFull: the disk or a quota is full.
    """
    store = services().store
    store.admit(client())
    record = store.submit(request, client(), claim=current_caller().claim)
    if not record.is_final:
        store.finish(record.id, (Done("complete", 0.0),), store.batch())
    return record


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
