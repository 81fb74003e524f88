"""Compilations and runs by their ids, which look alike: one does not answer at an address of the other."""

from __future__ import annotations

from explorer.errors import NotFound
from explorer.services import services
from explorer.store import Record, compilation_of
from explorer.views.links import ApiLinks, RunLinks


def find_compilation(compilation_id: str) -> Record:
    """A compilation by its id. One that was never finished is started again.

    Raises:
        NotFound: there is none of this id, or it is a run's.
        QueueFull: it has to be started again, and too many jobs wait already.
    """
    return only_compilation(services().queue.find(compilation_id))


def stored_compilation(compilation_id: str) -> Record:
    """A compilation by its id, as it is stored.

    Raises:
        NotFound: there is none of this id, or it is a run's.
    """
    return only_compilation(services().store.find(compilation_id))


def only_compilation(record: Record) -> Record:
    """The same record.

    Raises:
        NotFound: it is of a run; the message says where that is, and where the page shows it.
    """
    if record.request.run is None:
        return record
    page = ApiLinks(services().store.submit(compilation_of(record.request)).id).page
    raise NotFound(
        f"{record.id!r} is no compilation but a run. Its address is {RunLinks().run(record.id)}, "
        f"and the page shows it at {page}#panes=run:{record.id}."
    )


def stored_run(run_id: str) -> Record:
    """A run that was made here, as it is stored.

    Raises:
        NotFound: there is none of this id, or it is a compilation's.
    """
    try:
        record = services().store.find(run_id)
    except NotFound as error:
        raise NotFound(f"There is no run {run_id!r} here. Check the link.") from error
    if record.request.run is None:
        raise NotFound(f"{run_id!r} is no run but a compilation. Its address is {ApiLinks(run_id).api}.")
    return record
