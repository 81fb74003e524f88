"""Sends the requests of commands to the API: to a running server, or in this process.

A server is found by the setting `server`, or by the file that it writes into its data folder. It is used if
it has the same version of triton-explorer, the requested Triton version and, for a run, the device. If there
is none, or if it does not answer, an application is started in this process, with a temporary store. Both
answer the same requests with the same documents, so the output does not depend on which of them answers.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import importlib.metadata
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar
from urllib.parse import urlsplit

from explorer.cli.deletion_token import ownership
from explorer.cli.tools import open_services
from explorer.errors import ExplorerError, InvalidRequest, Unavailable
from explorer.sandbox.versions import installed_versions
from explorer.server.address import running_server
from explorer.settings import Settings, is_address

if TYPE_CHECKING:  # slow to import; a command that asks a server needs none of them
    from explorer.services import Services

API = "/api/v1"
_GREETING_SECONDS = 2.0
#: How often a starting server is polled, and how long at most.
_START_CHECK_SECONDS = 0.2
_LONGEST_START_SECONDS = 120.0
#: An event stream sends at least a heartbeat within this time.
_SILENCE_SECONDS = 60.0
#: RFC 9218: requests without this header are more urgent.
_BATCH = {"Priority": "u=5"}
_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_MOST_RETRIES = 600
#: Limits for a client are counted by the minute, rounded up.
_LONGEST_WAIT_SECONDS = 61

Answer = TypeVar("Answer")
#: Returns whether a server can do the work, from the document of its `/healthz`.
CanDo: TypeAlias = Callable[[dict[str, Any]], bool]


class _ServerFailed(Exception):
    """The server does not answer, or cannot do the work now."""


@dataclass(frozen=True)
class Response:
    """The status and the body of an answer."""

    status: int
    body: bytes
    retry_after: str = ""


class Sender(Protocol):
    """Sends one request and reads the whole answer."""

    def __call__(self, method: str, path: str, body: bytes | None = None) -> Response: ...


class Api:
    """The API of a server or of this process."""

    def __init__(self, send: Sender, url: str = "") -> None:
        """`url` is the address of the server; "": there is none, and the results end with the command."""
        self.send = send
        self.url = url.rstrip("/")

    def get(self, path: str) -> bytes:
        """Return the body at an address.

        Raises:
            ExplorerError: the API refuses; its message is passed on.
        """
        return self.read("GET", path)

    def read(self, method: str, path: str) -> bytes:
        """Send a request without a body, and return the body of the response.

        Raises:
            ExplorerError: the API refuses; its message is passed on.
        """
        return self._checked(self.send(method, path))

    def document(self, path: str) -> Any:
        """Return the document at an address.

        Raises:
            ExplorerError: the API refuses; its message is passed on.
        """
        return json.loads(self.get(path))

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send a document, without the fields that are None, and return the answer.

        Raises:
            ExplorerError: the API refuses; its message is passed on.
        """
        given = {name: value for name, value in body.items() if value is not None}
        return json.loads(self._checked(self.send("POST", path, json.dumps(given).encode())))

    def health(self) -> dict[str, Any]:
        """Return the document of the server's health, also if it has a problem."""
        return dict(json.loads(self.send("GET", "/healthz").body))

    def delete(self, path: str) -> bytes:
        """Delete or cancel the resource at an address, and return the answer.

        Raises:
            ExplorerError: the API refuses; its message is passed on.
        """
        return self.read("DELETE", path)

    def _checked(self, response: Response) -> bytes:
        if response.status >= 400:
            problem = json.loads(response.body)
            error = ExplorerError(problem["detail"])
            error.status, error.title = response.status, problem["error"]
            raise error
        return response.body


def ask(
    options: argparse.Namespace,
    question: Callable[[Api], Answer],
    *,
    is_for_one_job: bool = True,
    can_do: CanDo = lambda _health: True,
    prepare: Callable[[Services], None] = lambda _services: None,
) -> Answer:
    """Call `question` with the API of the running server, or of an application in this process.

    `question` is called a second time if the server fails during the first call, so it must print nothing.
    An application that `is_for_one_job` starts faster, and takes more time for each further job; `prepare` is
    called with its services before anything else. A server is used only if it `can_do` the work.
    """
    settings = Settings.from_environment()
    url = "" if options.unsafe_no_sandbox else settings.server or running_server(settings.data_dir)
    if url and url != "none":
        with (
            contextlib.suppress(_ServerFailed),
            _Connection(url, is_named=bool(settings.server)) as connection,
        ):
            if _is_alike(connection, options.triton, settings, can_do):
                return question(Api(connection.send, url))
    with _own_application(options, is_for_one_job=is_for_one_job, prepare=prepare) as api:
        return question(api)


def chosen_server(url: str, how: str) -> str:
    """Return the given address, or the address of the server that commands use.

    Raises:
        InvalidRequest: there is no address; `how` says how to give one.
    """
    settings = Settings.from_environment()
    found = url or settings.server or running_server(settings.data_dir)
    if found in ("", "none"):
        raise InvalidRequest(f"No server is running here. {how}")
    return found


@contextlib.contextmanager
def connected(url: str) -> Iterator[Api]:
    """Connect to the server that a command names. Its requests form a batch.

    Raises:
        InvalidRequest: the text is not the address of a server.
        Unavailable: the server cannot be reached.
    """
    if not is_address(url):
        raise InvalidRequest(f"{url} is not the address of a server. Give one such as http://127.0.0.1:8000.")
    with _Connection(url, _BATCH) as connection:
        yield Api(connection.send_patiently)


@contextlib.contextmanager
def sender_to(url: str | None, options: argparse.Namespace) -> Iterator[tuple[str, Sender]]:
    """Find a server, or start an application in this process for many requests.

    `url` is the address of the server, "none", or None: the server of the settings, if it has our version.
    Return its address, or "" without a server, and a function that sends a request from any thread.

    Raises:
        InvalidRequest: the given text is not the address of a server.
    """
    found = find_server(url, options)
    if found:
        yield found, server_sender(found)
        return
    with _own_application(options, is_for_one_job=False) as own:
        yield "", own.send


def find_server(url: str | None, options: argparse.Namespace) -> str:
    """Return the address of the server that `sender_to` uses; "" if an application in this process answers.

    Raises:
        InvalidRequest: the given text is not the address of a server.
    """
    settings = Settings.from_environment()
    found = url or settings.server or running_server(settings.data_dir)
    if url and url != "none":
        with connected(url):
            pass
    elif options.unsafe_no_sandbox or not found or found == "none" or not _answers(found, options, settings):
        return ""
    return found.rstrip("/")


def server_sender(url: str) -> Sender:
    """Return a function that sends a request to a server. Each request has a separate connection."""

    def send(method: str, path: str, body: bytes | None = None) -> Response:
        try:
            with _Connection(url) as connection:
                return connection.exchange(method, path, body)
        except _ServerFailed as error:
            raise Unavailable(f"The server {url} cannot be reached. Check that it runs.") from error

    return send


def _answers(url: str, options: argparse.Namespace, settings: Settings) -> bool:
    """Return whether a server of our version, with the Triton version, is running at an address."""
    with contextlib.suppress(_ServerFailed), _Connection(url, is_named=bool(settings.server)) as connection:
        return _is_alike(connection, getattr(options, "triton", None), settings)
    return False


def _is_alike(
    connection: _Connection,
    triton: str | None,
    settings: Settings,
    can_do: CanDo = lambda _health: True,
) -> bool:
    """Return whether a server is healthy, of our version, has the Triton version, and `can_do` the work.

    Wait for a starting server: starting an application beside it would take longer.
    """
    response = connection.send("GET", "/healthz")
    deadline = time.monotonic() + _LONGEST_START_SECONDS
    try:
        health = json.loads(response.body)
        while health["status"] == "starting" and time.monotonic() < deadline:
            time.sleep(_START_CHECK_SECONDS)
            response = connection.send("GET", "/healthz")
            health = json.loads(response.body)
        tritons = health["tritons"]
        is_ours = response.status == 200 and health["version"] == importlib.metadata.version(
            "triton-explorer"
        )
    except (ValueError, KeyError, TypeError):  # another program listens at the address
        return False
    wanted = triton or next(iter(installed_versions(settings.tritons_dir)), None)
    return is_ours and wanted in tritons and (triton is not None or tritons[0] == wanted) and can_do(health)


class _Connection:
    """A connection to a server. A server that the user names may be busy and answer late."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, *, is_named: bool = False) -> None:
        self._headers = dict(headers or {})
        self._token = Settings.from_environment().token
        self._greeting_seconds = _SILENCE_SECONDS if is_named else _GREETING_SECONDS
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._prefix = parts.path.rstrip("/")
        try:
            self._http = kind(parts.hostname or "", parts.port, timeout=self._greeting_seconds)
        except ValueError as error:
            raise _ServerFailed from error

    def __enter__(self) -> _Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def send(self, method: str, path: str, body: bytes | None = None) -> Response:
        """Send a request to a server that may be replaced by an application in this process."""
        response = self.exchange(method, path, body)
        # A server may accept shorter bodies than its commands, and fewer at the same time.
        is_refused = response.status in (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.TOO_MANY_REQUESTS)
        if is_refused or (response.status >= 500 and path != "/healthz"):
            raise _ServerFailed
        return response

    def send_patiently(self, method: str, path: str, body: bytes | None = None) -> Response:
        """Send a request to a server that may be overloaded. Repeat it after the time in its answer."""
        for _ in range(_MOST_RETRIES):
            try:
                response = self.exchange(method, path, body)
            except _ServerFailed as error:
                raise Unavailable(
                    "The server cannot be reached. Check its address, and that it runs."
                ) from error
            if response.status not in _BUSY or not response.retry_after.isdecimal():
                break
            time.sleep(min(int(response.retry_after), _LONGEST_WAIT_SECONDS))
        return response

    def exchange(self, method: str, path: str, body: bytes | None = None) -> Response:
        """Send a request and read the answer.

        Raises:
                _ServerFailed: no answer arrives.
        """
        headers = dict(self._headers)
        if body is not None:
            headers["Content-Type"] = "application/json"
        if method != "GET":
            headers |= ownership()
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            self._http.request(method, self._prefix + path, body, headers)
            # Only the first request tests whether a server listens; later requests may take time.
            if self._http.sock is not None:
                is_greeting = path == "/healthz"
                self._http.sock.settimeout(self._greeting_seconds if is_greeting else _SILENCE_SECONDS)
            answer = self._http.getresponse()
            return Response(answer.status, answer.read(), answer.headers.get("Retry-After", ""))
        except BaseException as error:
            self._http.close()  # The next request, such as a cancellation, needs a new connection.
            if isinstance(error, (OSError, http.client.HTTPException)):
                raise _ServerFailed from error
            raise


@contextlib.contextmanager
def _own_application(
    options: argparse.Namespace,
    *,
    is_for_one_job: bool = True,
    prepare: Callable[[Services], None] = lambda _services: None,
) -> Iterator[Api]:
    """Start an application in this process. Its sandbox starts while the application is imported."""
    with open_services(options, is_for_one_job) as services:
        prepare(services)
        from explorer import create_app

        app = create_app(services.settings, services)
        host = (services.settings.trusted_hosts or ["localhost"])[0].removeprefix(".")

        def send(method: str, path: str, body: bytes | None = None) -> Response:
            answer = app.test_client().open(
                path, method=method, data=body, content_type="application/json", base_url=f"http://{host}"
            )
            return Response(answer.status_code, answer.get_data())

        yield Api(send)
