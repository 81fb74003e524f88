"""What gunicorn itself refuses, answered as all else: a request that never comes as far as the application.

Which address was asked is not known then: the answer is that for programs, which people can read, too.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from flask import Flask
from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.workers.gthread import ThreadWorker

from explorer.errors import AddressTooLong, ExplorerError, HeadersTooLarge, InvalidRequest
from explorer.views.links import API
from explorer.views.problems import answer


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Threads that serve the application."""

    def handle_error(self, request: Any, client: Any, address: Any, error: Exception) -> None:
        """Answer a request that cannot be read; the connection is closed behind it."""
        refusal = _refusal(error)
        if refusal is None:
            super().handle_error(request, client, address, error)
            return
        self.log.debug("Refused: %s", error)
        try:
            util.write_nonblock(client, _encoded(self.wsgi, refusal))
        except OSError:
            self.log.debug("Who has sent it does not listen any more.")


def _refusal(error: Exception) -> ExplorerError | None:
    """What is wrong with a request, in our words; None: it is not the request."""
    if isinstance(error, LimitRequestLine):
        return AddressTooLong("No address here is that long. Send what is long in the body of a POST.")
    if isinstance(error, LimitRequestHeaders):
        return HeadersTooLarge("Remove cookies of this site, or headers that a program adds.")
    if isinstance(error, ParseException):
        return InvalidRequest(f"This is no HTTP request: {error}")
    return None


def _encoded(app: Flask, error: ExplorerError) -> bytes:
    """The whole answer as it is sent."""
    with app.test_request_context(f"{API}/"):
        response = app.process_response(answer(error))
    response.headers["Connection"] = "close"
    body = response.get_data()
    status = HTTPStatus(response.status_code)
    headers = [f"{name}: {value}" for name, value in response.headers]
    return "\r\n".join([f"HTTP/1.1 {status} {status.phrase}", *headers, "", ""]).encode("latin-1") + body
