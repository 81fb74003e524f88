"""Tools for agents over HTTP: the ASGI application of the MCP SDK, and the API that its tools use.

There are no sessions: each message is a separate request. The tools send requests to the application for
the client of the message, so all limits for clients apply to them. No thread waits for the client or for the
end of a compilation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from werkzeug.wsgi import get_current_url

from explorer.agents.api import Found, Reader
from explorer.agents.protocol import make_server
from explorer.views.events import SENT_BY_SERVER
from explorer.views.http import CLIENT_IS_WAITING, check_brackets
from explorer.views.request_ids import WORK_CONTEXT

if TYPE_CHECKING:
    from explorer.server.application import Answer, Environ, Message, Receive, Send

#: The WSGI variables that the tools' requests take from the message: the client and the address.
_KEPT = (
    "SERVER_",
    "REMOTE_",
    "SCRIPT_NAME",
    "HTTP_HOST",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_AUTHORIZATION",
    "HTTP_COOKIE",
    "HTTP_DELETION_TOKEN",
    "wsgi.",
    CLIENT_IS_WAITING,
    WORK_CONTEXT,
)


class ServerApi:
    """The API of the server for the client of a message."""

    def __init__(
        self,
        environ: Environ,
        receive: Receive,
        call: Callable[..., Any],
        answer_to: Callable[[Environ], Answer],
        follow: Callable[..., Any],
    ) -> None:
        self._environ = {name: value for name, value in environ.items() if name.startswith(_KEPT)}
        self._receive = receive
        self._call = call
        self._answer_to = answer_to
        self._follow = follow

    @property
    def url(self) -> str:
        """The address under which the client has found the server."""
        return get_current_url(self._environ, root_only=True).rstrip("/")

    async def send(self, method: str, path: str, body: bytes | None, read: Reader[Found]) -> Found:
        """Send a request to the application. A thread computes and reads the answer."""

        def answered() -> Found:
            answer = self._answer_to(self._request(method, path, body))
            try:
                return read(int(answer.status[:3]), answer.read_all())
            finally:
                answer.close()

        found: Found = await self._call(answered)
        return found

    async def follow(self, path: str, seconds: float) -> None:
        """Wait in the event loop for the end of an event stream, or of the client's connection."""
        answer: Answer = await self._call(lambda: self._answer_to(self._request("GET", path, None)))
        try:
            if answer.stream is not None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._follow(answer.stream, self._receive, _discard)
        finally:
            await self._call(answer.close)

    def _request(self, method: str, path: str, body: bytes | None) -> Environ:
        path, _, query = path.partition("?")
        given = {} if body is None else {"CONTENT_TYPE": "application/json", "CONTENT_LENGTH": str(len(body))}
        return {
            **self._environ,
            **given,
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "wsgi.input": BytesIO(body or b""),
            "wsgi.input_terminated": True,
            SENT_BY_SERVER: [],
        }


async def answer_message(api: ServerApi, scope: Message, body: bytes, send: Send) -> None:
    """Answer a message of the Model Context Protocol, whose body is complete.

    Raises:
        InvalidRequest: the message is too complex to be parsed without delaying other requests.
    """
    check_brackets(body)
    # The SDK's server keeps nothing between requests, so each request has its own.
    manager = StreamableHTTPSessionManager(
        make_server(api), json_response=True, stateless=True, max_request_body_size=max(len(body), 1)
    )
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await asyncio.Event().wait()  # `ServerApi.follow` detects that the client has left
        raise AssertionError

    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def _discard(_message: Message) -> None:
    pass
