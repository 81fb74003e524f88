"""Responses to requests that do not reach the application.

The address of these requests is unknown, so the response is a JSON document, as for the API.
"""

from __future__ import annotations

from http import HTTPStatus

from flask import Flask, Response

from explorer.documents import API
from explorer.errors import (
    AddressTooLong,
    ExplorerError,
    HeadersTooLarge,
    InvalidRequest,
    RequestTooSlow,
    SourceTooLarge,
)
from explorer.monitoring.work_context import WorkContext
from explorer.views.problems import answer
from explorer.views.request_ids import WORK_CONTEXT


def refusal(app: Flask, error: ExplorerError, context: WorkContext | None = None) -> Response:
    """Return the response for an error, with the headers of every response."""
    with app.test_request_context(f"{API}/", environ_base={WORK_CONTEXT: context} if context else None):
        response = app.process_response(answer(error))
    response.headers["Connection"] = "close"
    return response


def refusal_of_status(app: Flask, status: int, message: str) -> bytes:
    """Return the bytes of the response for a status of gunicorn."""
    response = refusal(app, _error(status, message))
    known = HTTPStatus(response.status_code)
    headers = [f"{name}: {value}" for name, value in response.headers]
    head = "\r\n".join([f"HTTP/1.1 {known} {known.phrase}", *headers, "", ""])
    return head.encode("latin-1") + response.get_data()


def _error(status: int, message: str) -> ExplorerError:
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return SourceTooLarge(message)
    if status == HTTPStatus.REQUEST_URI_TOO_LONG:
        return AddressTooLong(
            "The address of the request is too long. Send long data in the body of a POST request."
        )
    if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        return HeadersTooLarge(
            "Remove cookies of this site from the request, or headers that a program adds."
        )
    if status == HTTPStatus.REQUEST_TIMEOUT:
        return RequestTooSlow(message)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
        return ExplorerError("Internal error. The server's log has the traceback. Try again.")
    return InvalidRequest(f"The request is not valid HTTP: {message}")
