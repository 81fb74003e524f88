"""The connections of the server, limited in number for each client, and in the time of waiting for it."""

from __future__ import annotations

import contextlib
from asyncio import Transport
from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any

from gunicorn.asgi.protocol import ASGIProtocol

from explorer.server.refusal import refusal_of_status
from explorer.settings import Networks
from explorer.views.client import client_of, is_proxy

#: The rest of a body beyond its limit is read and discarded: a browser that is sending reads no response. A
#: body whose declared length exceeds this is refused at once.
DISCARDED_BYTES = 64 * 1024 * 1024

_HEADER_SECONDS = 15.0
#: A client has to read `_FEWEST_READ_BYTES` of a response within this time.
_READ_SECONDS = 10.0
_FEWEST_READ_BYTES = 10 * 1024

Peer = tuple[str, int]


class Connection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """A connection. It waits for its client while a request is incomplete, or a response is unread."""

    #: Whether the client has too many connections: the first request is refused.
    is_refused = False
    #: Whether the client or the server has closed the connection.
    is_lost = False
    #: Whether a request is being answered.
    is_at_work = False
    _has_sent = False
    _has_begun = False
    _is_read = True
    _unread_bytes = 0

    def connection_made(self, transport: Transport) -> None:
        """Count the connection."""
        super().connection_made(transport)
        now = self.worker.loop.time()
        self._made, self._measured = now, now
        self.peer: Peer = transport.get_extra_info("peername")[:2]
        self.client = client_of(self.peer[0], "", ())
        self._connections: Connections = self.worker.state["connections"]
        self._connections.add(self)

    def data_received(self, data: bytes) -> None:
        self._has_sent = True
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        super().connection_lost(exc)
        self._connections.remove(self)

    def resume_writing(self) -> None:
        """Note that the client has read most of the response."""
        super().resume_writing()
        self._is_read = True

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Mark the connection as waiting for the server."""
        self.is_at_work = True
        try:
            yield
        finally:
            self.is_at_work = False

    def begin(self) -> None:
        """Note that a request has arrived, which ends the time limit for the first request."""
        self._has_begun = True

    @property
    def waits_for_client(self) -> bool:
        return not self.is_at_work or self.transport.get_write_buffer_size() > 0

    def check(self, now: float) -> None:
        """Close the connection if the client is too slow."""
        if not self._has_begun and now - self._made > _HEADER_SECONDS:
            self._has_begun = True
            if self._has_sent:  # browsers also open connections that they may need
                self._send_error_response(
                    HTTPStatus.REQUEST_TIMEOUT, f"No request came within {_HEADER_SECONDS:.0f} seconds."
                )
            self._keepalive_timeout()  # closes the connection and ends its task
        if now - self._measured >= _READ_SECONDS:
            unread = self.transport.get_write_buffer_size()
            if 0 < self._unread_bytes < unread + _FEWEST_READ_BYTES and unread and not self._is_read:
                self.transport.abort()
            self._measured, self._unread_bytes, self._is_read = now, unread, False

    def _feed_callback_parser(self, data: bytes) -> bool:
        """Parse data of the client. Return False if this closes the connection."""
        try:
            if not super()._feed_callback_parser(data):
                return False
        except ValueError:  # a number with more digits than Python reads
            length = DISCARDED_BYTES + 1
        else:
            parser = self._callback_parser
            length = parser._chunk_size if parser.is_chunked else parser.content_length or 0
        if length <= DISCARDED_BYTES:
            return True
        self._send_error_response(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"The request declares a body that is longer than {DISCARDED_BYTES:,} bytes.",
        )
        self._close_transport()
        return False

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Respond to a request that gunicorn refuses, unless its client has left."""
        if self.is_lost:
            return
        if extra_headers:
            super()._send_error_response(status, message, extra_headers)
        else:
            self._safe_write(refusal_of_status(self.app.flask, status, message))


class Connections:
    """All open connections, the oldest first.

    If a client or the server has reached its maximum of connections, a new connection closes an old
    connection that waits for its client.
    """

    def __init__(self, limit: int, limit_of_client: int, proxies: Networks) -> None:
        self._limit = limit
        self._limit_of_client = limit_of_client
        self._proxies = proxies
        self._all: dict[Peer, Connection] = {}
        self._by_client: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> None:
        """Add a new connection, replacing an old connection if there are too many."""
        same = self._by_client.get(connection.client, {})
        if len(same) >= self._limit_of_client and not is_proxy(connection.peer[0], self._proxies):
            connection.is_refused = not self._end_one(same)
        elif len(self._all) >= self._limit:
            connection.is_refused = not self._end_one(self._all.values())
        self._all[connection.peer] = connection
        self._by_client.setdefault(connection.client, {})[connection] = None

    def remove(self, connection: Connection) -> None:
        connection.is_lost = True
        if self._all.get(connection.peer) is connection:
            del self._all[connection.peer]
        same = self._by_client.get(connection.client, {})
        same.pop(connection, None)
        if not same:
            self._by_client.pop(connection.client, None)

    def find(self, peer: Peer) -> Connection | None:
        """Return the connection from an address, or None if it is lost."""
        return self._all.get(peer)

    @property
    def are_at_work(self) -> bool:
        """Whether a request is being answered."""
        return any(connection.is_at_work for connection in self._all.values())

    def check(self, now: float) -> None:
        """Close the connections of clients that are too slow."""
        for connection in list(self._all.values()):
            connection.check(now)

    def _end_one(self, connections: Iterable[Connection]) -> bool:
        """Close the oldest connection that waits for its client. Return whether there is one."""
        found = next((each for each in connections if each.waits_for_client), None)
        if found is not None:
            found.transport.abort()
            self.remove(found)
        return found is not None
