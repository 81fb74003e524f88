"""The interface of the HTTP API for tools. Each transport implements it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypeVar

import msgspec

from explorer.documents import API, Problem
from explorer.errors import ExplorerError

Found = TypeVar("Found")

#: A function that is called with the status and the body of a response.
Reader: TypeAlias = Callable[[int, bytes], Found]


class Refused(ExplorerError):
    """The API has refused a request; `kind` is the name of the error.

    `is_temporary`: the same request may be accepted later.
    """

    def __init__(self, problem: Problem, status: int) -> None:
        super().__init__(problem.detail)
        self.kind, self.title, self.status = problem.kind, problem.error, status
        self.is_temporary = status == 429 or status >= 500


class Api(Protocol):
    """The HTTP API. No method blocks the event loop."""

    @property
    def url(self) -> str:
        """The address of the server, without a slash at its end; "" if browsers cannot reach it."""

    async def send(self, method: str, path: str, body: bytes | None, read: Reader[Found]) -> Found:
        """Send a request and return the response after `read`, which is called in a thread."""
        ...

    async def follow(self, path: str, seconds: float) -> None:
        """Read an event stream until it ends, or until the seconds are over."""
        ...


async def get(api: Api, path: str, read: Callable[[bytes], Found]) -> Found:
    """Return the body at an address of the API, after `read`.

    Raises:
        Refused: the API refuses.
    """
    return await api.send("GET", API + path, None, lambda status, answer: read(_checked(status, answer)))


async def document(api: Api, path: str, wanted: type[Found]) -> Found:
    """Return the document at an address below that of the API.

    Raises:
        Refused: the API refuses.
    """
    return await get(api, path, lambda body: msgspec.json.decode(body, type=wanted))


async def post(api: Api, path: str, body: dict[str, Any]) -> Any:
    """Send a document, without the fields that are None, and return the answer.

    Raises:
        Refused: the API refuses.
    """
    given = {name: value for name, value in body.items() if value is not None}
    return await api.send(
        "POST",
        API + path,
        msgspec.json.encode(given),
        lambda status, answer: msgspec.json.decode(_checked(status, answer)),
    )


def _checked(status: int, answer: bytes) -> bytes:
    if status >= 400:
        raise Refused(msgspec.json.decode(answer, type=Problem), status)
    return answer
