"""Kept responses: the event loop sends them again without a thread or a query.

A view marks responses that may be kept (`explorer.views.http.let_server_keep`). They are kept as they were
sent, compressed, until the store has another revision, and for a few seconds at most: another process may
have removed the result.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from werkzeug.http import parse_etags

from explorer.store import Store
from explorer.views.request_ids import REQUEST_ID_HEADER

Headers = list[tuple[bytes, bytes]]
#: The address of a request, and the headers on which a kept response depends.
Key = tuple[bytes, ...]

_TOTAL_BYTES = 32 * 1024 * 1024
_SECONDS = 10.0
#: The size of a response beside its body.
_OVERHEAD_BYTES = 2048
#: The view answers a request with one of these headers.
_OF_VIEW = {
    b"content-length",
    b"if-match",
    b"if-range",
    b"if-unmodified-since",
    b"range",
    b"transfer-encoding",
}
#: A client that has the body knows these headers.
_OF_BODY = {b"content-encoding", b"content-length", b"content-type"}
#: This header differs for each request.
_OF_REQUEST = REQUEST_ID_HEADER.lower().encode()


@dataclass(frozen=True)
class Ready:
    """A response that can be sent again."""

    headers: Headers
    body: bytes
    revision: int
    expires: float
    route: str

    def answer(self, known_etags: str) -> tuple[int, Headers, bytes]:
        """Return the status, headers and body for a client that has the versions with the given tags."""
        etag = next((value for name, value in self.headers if name.lower() == b"etag"), b"").decode("latin-1")
        if known_etags and etag and parse_etags(known_etags).contains_raw(etag):
            return 304, [each for each in self.headers if each[0].lower() not in _OF_BODY], b""
        return 200, self.headers, self.body


class ReadyResponses:
    """The responses that were sent last, up to a number of bytes. Only the event loop uses them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._all: OrderedDict[Key, Ready] = OrderedDict()
        self._bytes = 0

    @property
    def revision(self) -> int:
        """The revision of the store. A response has the revision from before the call of its view."""
        return self._store.revision

    def find(self, key: Key) -> Ready | None:
        """Return the response for a key, if it is kept and can still be sent."""
        found = self._all.get(key)
        if found is None:
            return None
        if found.revision != self._store.revision or found.expires < time.monotonic():
            self._remove(key)
            return None
        self._all.move_to_end(key)
        return found

    def keep(self, key: Key, headers: Headers, body: bytes, revision: int, route: str = "") -> None:
        """Keep the response of a route, removing the least recently sent responses if necessary."""
        if key in self._all:
            self._remove(key)
        lasting = [each for each in headers if each[0].lower() != _OF_REQUEST]
        self._all[key] = Ready(lasting, body, revision, time.monotonic() + _SECONDS, route)
        self._bytes += _size(key, body)
        while self._bytes > _TOTAL_BYTES:
            self._remove(next(iter(self._all)))

    def _remove(self, key: Key) -> None:
        self._bytes -= _size(key, self._all.pop(key).body)


def key_of(scope: dict[str, Any]) -> tuple[Key | None, str]:
    """Return the key of a request (None: its view has to answer), and its `If-None-Match` header."""
    if scope["method"] != "GET":
        return None, ""
    host = encodings = tags = b""
    for name, value in scope["headers"]:
        if name in _OF_VIEW:
            return None, ""
        if name == b"accept-encoding":
            encodings += b"," + value
        elif name == b"host":
            host = value
        elif name == b"if-none-match":
            tags += b"," + value
    return (scope["raw_path"], scope["query_string"], host, encodings), tags.decode("latin-1").lstrip(",")


def _size(key: Key, body: bytes) -> int:
    return sum(map(len, key)) + len(body) + _OVERHEAD_BYTES
