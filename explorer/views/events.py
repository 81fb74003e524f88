"""What happens to a compilation, as it happens: server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from threading import BoundedSemaphore
from typing import cast

import msgspec
from flask import Blueprint, Flask, Response, current_app, request
from flask.blueprints import BlueprintSetupState

from explorer.documents import event_document
from explorer.errors import Unavailable
from explorer.services import services, services_of
from explorer.store import Entry, Record
from explorer.store.entries import kind_of
from explorer.views.links import API, ApiLinks
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("events", __name__, url_prefix=f"{API}/compilations")

_STREAMS = "explorer.streams"


@blueprint.record_once
def _limit_streams(state: BlueprintSetupState) -> None:
    """Every open stream holds a thread: leave some for those who only ask."""
    threads = services_of(cast(Flask, state.app)).settings.threads
    state.app.extensions[_STREAMS] = BoundedSemaphore(max(threads // 2, 1))


@blueprint.get("/<compilation_id>/events")
@documented({200: "text/event-stream", 204: None})
def stream(compilation_id: str) -> Response:
    """Follow a compilation from its first event on, or from the one after `Last-Event-ID`.

    The events are `inspection`, `specialized`, `stage`, `pass`, `resources`, `diagnostic`, `log`, and
    `done` as the last one; their data are the rows of the index. 204 when nothing will follow any more.
    """
    return event_stream(find_compilation(compilation_id))


def event_stream(record: Record) -> Response:
    """The events of a compilation or a run, from the one on that the current request asks for."""
    last = request.headers.get("Last-Event-ID", "")
    skip = int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0
    if record.is_finished and len(record.entries) <= skip:
        return Response(status=204)
    streams: BoundedSemaphore = current_app.extensions[_STREAMS]
    if not streams.acquire(blocking=False):
        raise Unavailable("Too many are listening to compilations. Ask for the index instead, or try again.")
    try:
        is_over = record.is_finished
        entries = iter(record.entries[skip:]) if is_over else services().queue.follow(record.id, skip)
    except BaseException:
        streams.release()
        raise
    response = Response(_write(entries, skip, record.request.target, ApiLinks(record.id)))
    response.call_on_close(streams.release)
    response.mimetype = "text/event-stream"
    response.cache_control.no_store = True
    response.headers["X-Accel-Buffering"] = "no"
    return response


def _write(entries: Iterator[Entry | None], skip: int, target: str, links: ApiLinks) -> Iterator[bytes]:
    """The stream itself. A comment goes out at once, so that the listener knows it is connected."""
    yield b": connected\n\n"
    number = skip
    for entry in entries:
        if entry is None:
            yield b": still here\n\n"
            continue
        number += 1
        data = msgspec.json.encode(event_document(entry, target, links))
        yield b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind_of(entry).encode(), data)
