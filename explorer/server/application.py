"""The ASGI application: Flask runs in threads, and the event loop waits for clients.

A request reaches a thread when its body is complete, and the event loop sends the response. So a client that
sends or reads slowly holds no thread, and neither does an event stream.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from io import BytesIO
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes
from weakref import WeakValueDictionary

from flask import Flask

from explorer.errors import ExplorerError, InvalidRequest, RequestTooSlow, TooManyRequests
from explorer.jobs.fairness import CountByClient
from explorer.jobs.shared_queue import HEARTBEAT_SECONDS
from explorer.monitoring import traces
from explorer.monitoring.work_context import (
    WorkContext,
    accepted_request_id,
    current_work_context,
    new_request_id,
    working_for,
)
from explorer.server.connections import DISCARDED_BYTES, Connection, Connections
from explorer.server.ready import Headers, Key, ReadyResponses, key_of
from explorer.server.refusal import refusal
from explorer.services import services_of
from explorer.views.agents import ANSWERED_BY_SERVER
from explorer.views.client import client_of, is_proxy
from explorer.views.events import CONNECTED, HEARTBEAT, SENT_BY_SERVER, EventStream
from explorer.views.http import CLIENT_IS_WAITING, IS_KEPT, body_limit_bytes
from explorer.views.meta import LIVE, LIVE_ADDRESS
from explorer.views.request_ids import REQUEST_ID_HEADER, ROUTE, WORK_CONTEXT

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Environ = dict[str, Any]
Found = TypeVar("Found")

_BODY_SECONDS = 30.0
#: The number of bodies of the greatest length that one client can send at the same time.
_BODIES_OF_CLIENT = 4
#: The threads for one client: half of all, but not fewer than a browser has connections.
_THREADS_OF_CLIENT_SHARE = 2
_FEWEST_THREADS_OF_CLIENT = 6
#: How long a request waits for a thread of its client, without holding a thread, before it is refused.
_TURN_SECONDS = 10.0
#: A longer response is sent in parts, each when the client has read most of the previous part.
_PART_BYTES = 256 * 1024
#: The route of requests that no view answers.
_NO_ROUTE = "none"
_LIVE_PATH = LIVE_ADDRESS.encode()
_LIVE_HEADERS = [
    (b"Content-Type", b"application/json"),
    (b"Content-Length", str(len(LIVE)).encode()),
    (b"Cache-Control", b"no-store"),
    (b"X-Content-Type-Options", b"nosniff"),
]


class _Gone(Exception):
    """The client has closed the connection."""


class Application:
    """Serves a Flask application, with the number of threads in its settings."""

    def __init__(self, app: Flask) -> None:
        self.flask = app
        settings = services_of(app).settings
        self._proxies = settings.trusted_proxies
        self._body_bytes = body_limit_bytes(settings.source_limit_bytes) + 1
        self._bodies = CountByClient(_BODIES_OF_CLIENT * self._body_bytes)
        self._threads = ThreadPoolExecutor(settings.threads, "request")
        self._threads_of_client = max(settings.threads // _THREADS_OF_CLIENT_SHARE, _FEWEST_THREADS_OF_CLIENT)
        #: The turns of each client that has a request waiting or in a thread.
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._ready = ReadyResponses(services_of(app).store)
        self._http = services_of(app).metrics.http

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Respond to a request."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        connections: Connections = scope["state"]["connections"]
        connection = connections.find(scope["client"])
        if connection is None:  # the connection has been lost since
            return
        connection.begin()
        begin, request_id = time.perf_counter(), self._request_id(scope)
        try:
            if connection.is_refused:
                raise TooManyRequests(
                    "This client has too many open connections. Close some, then try again."
                )
            if scope["http_version"] == "1.1" and all(name != b"host" for name, _ in scope["headers"]):
                raise InvalidRequest("The request has no Host header.")
            if scope["raw_path"] == _LIVE_PATH:  # also while no thread is free
                await _send_all(send, 200, [*_LIVE_HEADERS, _request_id_header(request_id)], LIVE)
                return
            key, known_etags = key_of(scope)
            ready = None if key is None else self._ready.find(key)
            if ready is None:
                await self._answer(scope, key, request_id, connection, receive, send)
            else:
                status, headers, data = ready.answer(known_etags)
                self._http.observe(ready.route, status, time.perf_counter() - begin)
                await _send_all(send, status, [*headers, _request_id_header(request_id)], data)
        except _Gone:
            return
        except ExplorerError as error:
            response = refusal(self.flask, error, WorkContext(request_id))
            self._http.observe(_NO_ROUTE, response.status_code, time.perf_counter() - begin)
            await _send_all(send, response.status_code, _encoded(response.headers), response.get_data())

    def _request_id(self, scope: Message) -> str:
        """Return the ID that a trusted proxy has chosen for a request, or a new one."""
        if self._proxies and is_proxy(scope["client"][0], self._proxies):
            for name, value in scope["headers"]:
                if name == b"x-request-id":
                    return accepted_request_id(value.decode("latin-1"))
        return new_request_id()

    async def _answer(
        self,
        scope: Message,
        key: Key | None,
        request_id: str,
        connection: Connection,
        receive: Receive,
        send: Send,
    ) -> None:
        """Call a view, and keep its response if the view allows that."""
        environ = _environ(scope)
        context = WorkContext(request_id, traceparent=environ.get("HTTP_TRACEPARENT", ""))
        client = client_of(environ["REMOTE_ADDR"], environ.get("HTTP_X_FORWARDED_FOR", ""), self._proxies)
        body = _Body(self._bodies, client, self._body_bytes)
        try:
            await body.receive(receive)
            environ |= body.variables | {CLIENT_IS_WAITING: lambda: not connection.is_lost}
            with connection.at_work():
                revision = self._ready.revision
                answer = await self._begin(environ, context, client)
                try:
                    if environ[ANSWERED_BY_SERVER]:
                        send = _with_headers(send, _encoded(answer.headers))
                        await self._answer_agent(scope, environ, client, body.data, receive, send)
                        return
                    headers = _encoded(answer.headers)
                    if key is not None and answer.is_kept:
                        self._ready.keep(key, headers, answer.part, revision, environ.get(ROUTE) or _NO_ROUTE)
                    await self._send(answer, headers, connection, receive, send)
                finally:
                    self._threads.submit(answer.close)
        finally:
            body.release()

    async def _answer_agent(
        self, scope: Message, environ: Environ, client: str, body: bytes, receive: Receive, send: Send
    ) -> None:
        """Call the tools for agents. They are imported for the first message, which takes a second."""
        load = self._threads.submit(importlib.import_module, "explorer.server.agents")
        agents = await asyncio.wrap_future(load)
        api = agents.ServerApi(
            environ,
            receive,
            functools.partial(self._in_thread, client),
            functools.partial(Answer, self.flask),
            _send_events,
        )
        await agents.answer_message(api, scope, body, send)

    async def _begin(self, environ: Environ, context: WorkContext, client: str) -> Answer:
        """Call Flask in a thread.

        Raises:
            TooManyRequests: the client has to wait too long for a thread.
        """
        begin, method = time.perf_counter(), environ["REQUEST_METHOD"]
        with working_for(context), traces.span(method, **{"http.request.method": method}) as span:
            environ[WORK_CONTEXT] = current_work_context()
            answer = await self._in_thread(client, functools.partial(Answer, self.flask, environ))
            route, status = environ.get(ROUTE) or _NO_ROUTE, int(answer.status[:3])
            span.rename(f"{method} {route}")
            span.set(**{"http.route": route, "http.response.status_code": status})
        self._http.observe(route, status, time.perf_counter() - begin)
        return answer

    async def _in_thread(self, client: str, function: Callable[[], Found]) -> Found:
        """Call a function in a thread, when the client uses less than its share of the threads.

        Raises:
            TooManyRequests: the wait is too long.
        """
        turn = self._turns.setdefault(client, asyncio.Semaphore(self._threads_of_client))
        try:
            async with asyncio.timeout(_TURN_SECONDS):
                await turn.acquire()
        except TimeoutError as error:
            raise TooManyRequests(
                "This client has too many requests in progress. Try again in 5 seconds."
            ) from error
        loop = asyncio.get_running_loop()

        def end_turn(_: Future[Found]) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(turn.release)

        call = self._threads.submit(function)
        call.add_done_callback(end_turn)
        try:
            return await asyncio.wrap_future(call)
        except asyncio.CancelledError:
            call.add_done_callback(_discard)
            raise

    async def _send(
        self, answer: Answer, headers: Headers, connection: Connection, receive: Receive, send: Send
    ) -> None:
        await _start(send, int(answer.status[:3]), headers)
        if answer.stream is not None:
            await _send_events(answer.stream, receive, send)
            return
        part, has_more = answer.part, answer.has_more
        while not connection.is_lost:
            await send({"type": "http.response.body", "body": part, "more_body": has_more})
            if not has_more:
                return
            part, has_more = await asyncio.wrap_future(self._threads.submit(answer.take))


class _Body:
    """The body of a request, up to the limit; the rest is discarded."""

    def __init__(self, held: CountByClient, client: str, limit_bytes: int) -> None:
        self._held = held
        self._client = client
        self._limit_bytes = limit_bytes
        self._data = bytearray()

    async def receive(self, receive: Receive) -> None:
        """Read the whole body.

        Raises:
            RequestTooSlow: the client takes too long.
            TooManyRequests: the client sends too many bodies at the same time.
        """
        try:
            async with asyncio.timeout(_BODY_SECONDS) as limit:
                await self._receive(receive, limit)
        except TimeoutError as error:
            raise RequestTooSlow(
                f"The body of the request was not complete after {_BODY_SECONDS:.0f} seconds. Send it faster."
            ) from error

    async def _receive(self, receive: Receive, limit: asyncio.Timeout) -> None:
        received = 0
        while received <= DISCARDED_BYTES:
            message = await receive()
            if limit.expired():  # Until Python 3.12, `asyncio.wait_for` prefers data to a cancellation.
                raise TimeoutError
            if message["type"] != "http.request":
                raise _Gone
            data = message["body"][: self._limit_bytes - len(self._data)]
            received += len(message["body"])
            if not self._held.acquire(self._client, len(data)):
                raise TooManyRequests(
                    "This client sends too much data at the same time. Try again in a minute."
                )
            self._data += data
            if not message["more_body"]:
                return

    @property
    def variables(self) -> Environ:
        """The variables of WSGI."""
        length = {"CONTENT_LENGTH": str(len(self._data))} if self._data else {}
        return {**length, "wsgi.input": BytesIO(self._data), "wsgi.input_terminated": True}

    @property
    def data(self) -> bytes:
        return bytes(self._data)

    def release(self) -> None:
        """Stop counting the body."""
        self._held.release(self._client, len(self._data))


class Answer:
    """The response of Flask. All methods are called in threads."""

    def __init__(self, app: Flask, environ: Environ) -> None:
        self.status = ""
        self.headers: Iterable[tuple[str, str]] = ()
        self._body = app(environ, self._start)
        self._chunks = _in_parts(self._body)
        self.stream: EventStream | None = next(iter(environ[SENT_BY_SERVER]), None)
        self.part, self.has_more = self.take()
        #: Whether the server may send the response again.
        self.is_kept = IS_KEPT in environ and self.status.startswith("200") and not self.has_more

    def _start(self, status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[[bytes], object]:
        self.status, self.headers = status, headers
        return lambda _: None

    def take(self) -> tuple[bytes, bool]:
        """Return the next part of the body, and whether a further part follows."""
        chunks, size = [], 0
        for chunk in self._chunks:
            chunks.append(chunk)
            size += len(chunk)
            if size >= _PART_BYTES:
                return b"".join(chunks), True
        return b"".join(chunks), False

    def read_all(self) -> bytes:
        """Return the whole body of a response that is not an event stream."""
        return b"".join((self.part, *self._chunks))

    def close(self) -> None:
        """Free the resources of the response."""
        if hasattr(self._body, "close"):
            self._body.close()
        if self.stream is not None:
            self.stream.close()


def _in_parts(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Divide long responses into parts: a sent part is copied until the client has read it."""
    for chunk in chunks:
        for start in range(0, len(chunk), _PART_BYTES):
            yield chunk[start : start + _PART_BYTES]


def _discard(call: Future[Any]) -> None:
    """Close a response whose client has left."""
    if not call.cancelled() and call.exception() is None and isinstance(call.result(), Answer):
        call.result().close()


def _encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def _request_id_header(request_id: str) -> tuple[bytes, bytes]:
    return REQUEST_ID_HEADER.encode(), request_id.encode()


def _with_headers(send: Send, headers: Headers) -> Send:
    """Return a function that adds our headers to the messages of another application."""
    ours = [each for each in headers if each[0].lower() != b"content-length"]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            theirs = {name.lower() for name, _ in message["headers"]}
            added = [each for each in ours if each[0].lower() not in theirs]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return send_with_headers


async def _start(send: Send, status: int, headers: Headers) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _send_all(send: Send, status: int, headers: Headers, data: bytes) -> None:
    await _start(send, status, headers)
    await send({"type": "http.response.body", "body": data})


async def _send_events(events: EventStream, receive: Receive, send: Send) -> None:
    """Send an event stream until it ends or the client leaves."""
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(changed.set)

    end_watch = events.watch(wake)
    gone = asyncio.ensure_future(_until_gone(receive))
    gone.add_done_callback(lambda _: changed.set())
    data, is_over = CONNECTED, False
    try:
        while not is_over and not gone.done():
            changed.clear()
            new, is_over = events.read()
            if data or new or is_over:
                await send({"type": "http.response.body", "body": data + new, "more_body": not is_over})
                data = b""
            else:
                heartbeat = loop.call_later(HEARTBEAT_SECONDS, changed.set)
                due = heartbeat.when()
                await changed.wait()
                heartbeat.cancel()
                data = HEARTBEAT if loop.time() >= due else b""
    finally:
        end_watch()
        gone.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _environ(scope: Message) -> Environ:
    """Return the variables of WSGI for a request, without the variables of its body."""
    host, port = scope["server"]
    client, client_port = scope["client"]
    path, authority = scope["raw_path"], None
    if not path.startswith(b"/"):  # the whole URL, as for a proxy
        authority, _, path = path.partition(b"://")[2].partition(b"/")
        path = b"/" + path
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(client_port),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        SENT_BY_SERVER: [],
        ANSWERED_BY_SERVER: [],
    }
    for name, value in scope["headers"]:
        if b"_" in name:  # WSGI would mistake it for a header with a dash, which a proxy may have set
            continue
        if name == b"if-modified-since":  # answers have tags, not dates; Werkzeug fails on years above 9999
            continue
        text = value.decode("latin-1")
        if name == b"content-type":
            environ["CONTENT_TYPE"] = text
        elif name != b"content-length":
            variable = "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
            environ[variable] = f"{environ[variable]},{text}" if variable in environ else text
    if authority is not None:  # the authority replaces the header
        environ["HTTP_HOST"] = authority.decode("latin-1")
    return environ
