"""The event stream of a compilation or a run: server-sent events.

A waiting stream holds no thread if the server can wait in its event loop, see `explorer.server.application`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from weakref import WeakKeyDictionary

import msgspec
from flask import Blueprint, Response, request

from explorer.documents import API, ApiLinks, event_document
from explorer.errors import TooManyRequests
from explorer.jobs import EventLog
from explorer.jobs.shared_queue import HEARTBEAT_SECONDS
from explorer.queries import Parameter
from explorer.services import services
from explorer.store import Entry, Record
from explorer.store.entries import kind_of
from explorer.views.caller import FOLLOWER
from explorer.views.current_account import client
from explorer.views.operation import documented
from explorer.views.records import find_compilation

blueprint = Blueprint("events", __name__, url_prefix=f"{API}/compilations")

#: A server that sends event streams in its event loop sets this variable of the request to a list for the
#: stream.
SENT_BY_SERVER = "triton_explorer.event_streams"
LAST = Parameter(
    "last",
    int,
    "The ID of the last known event, for a new stream of a browser, which sends no `Last-Event-ID`.",
)
CONNECTED = b": connected\n\n"
HEARTBEAT = b": heartbeat\n\n"


class EventStream:
    """The events of a record, encoded. The first comment tells the client that it is connected."""

    def __init__(self, log: EventLog, skip: int, encode: Callable[[int, Entry], bytes]) -> None:
        self._log = log
        self._number = skip
        self._encode = encode
        self._close: Callable[[], None] = lambda: None

    def on_close(self, call: Callable[[], None]) -> None:
        """Call a function when the stream is closed."""
        self._close = call

    def close(self) -> None:
        """End the stream. A second call has no effect."""
        call, self._close = self._close, lambda: None
        call()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener`, in any thread, when there is more to read, until the result is called."""
        return self._log.watch(listener)

    def read(self) -> tuple[bytes, bool]:
        """Return the events since the last call, and whether they are the last events."""
        is_over = self._log.is_closed
        return b"".join(map(self._next, self._log.entries()[self._number :])), is_over

    def __iter__(self) -> Iterator[bytes]:
        """Wait for the events in the current thread."""
        yield CONNECTED
        for entry in self._log.follow(self._number, HEARTBEAT_SECONDS):
            yield HEARTBEAT if entry is None else self._next(entry)

    def _next(self, entry: Entry) -> bytes:
        self._number += 1
        return self._encode(self._number, entry)


class Encoder:
    """Encodes the events of one log. All streams share the encoded events."""

    def __init__(self, target: str, links: ApiLinks) -> None:
        self._target = target
        self._links = links
        self._encoded: dict[int, bytes] = {}

    def __call__(self, number: int, entry: Entry) -> bytes:
        """Return an event. `number` is its ID."""
        found = self._encoded.get(number)
        if found is None:
            data = msgspec.json.encode(event_document(entry, self._target, self._links))
            found = b"id: %d\nevent: %s\ndata: %s\n\n" % (number, kind_of(entry).encode(), data)
            self._encoded[number] = found
        return found


_encoders: WeakKeyDictionary[EventLog, Encoder] = WeakKeyDictionary()
_encoders_lock = threading.Lock()


@blueprint.get("/<compilation_id>/events")
@documented({200: "text/event-stream", 204: None}, None, FOLLOWER, LAST)
def stream(compilation_id: str) -> Response:
    """Follow the events of a compilation from the first event, or from the event after `Last-Event-ID`.

    The events are `inspection`, `specialized`, `stage`, `pass`, `resources`, `diagnostic`, `log`, and
    `done` as the last one. Their data are the rows of the index. The status is 204 if no event is left.
    """
    return event_stream(find_compilation(compilation_id))


def event_stream(record: Record) -> Response:
    """Return the events of a record, from the event that the current request specifies.

    Raises:
        TooManyRequests: the client has too many open event streams.
    """
    last = request.headers.get("Last-Event-ID", request.args.get(LAST.name, ""))
    skip = int(last) if last.isascii() and last.isdigit() and len(last) < 10 else 0
    if record.status == "failed" and record.journal is None:
        skip = 0  # the result could not be stored, and its entries differ from the sent ones
    if record.is_finished and len(record.entries) <= skip:
        return Response(status=204)
    streams, name = services().streams, client()
    if not streams.acquire(name):
        raise TooManyRequests(
            "This client has too many open event streams. Try again, or request the document instead."
        )
    try:
        log = services().queue.log(record.id) if not record.is_finished else EventLog.of(record.entries)
        with _encoders_lock:
            encode = _encoders.setdefault(log, Encoder(record.request.target, ApiLinks(record.id)))
        events = EventStream(log, skip, encode)
    except BaseException:
        streams.release(name)
        raise
    end_stream = services().queue.begin_stream(record.id)

    def end() -> None:
        end_stream()
        streams.release(name)

    events.on_close(end)
    sent_by_server = request.environ.get(SENT_BY_SERVER)
    if sent_by_server is None or request.method == "HEAD":
        response = Response(iter(events))
        response.call_on_close(events.close)
    else:
        response = Response(iter(()))
        sent_by_server.append(events)
    response.mimetype = "text/event-stream"
    response.cache_control.no_store = True
    response.headers["X-Accel-Buffering"] = "no"
    return response
