"""The one way out of every error: a JSON document for programs, a page for people."""

from __future__ import annotations

import logging

import msgspec
from flask import Flask, Response, render_template, request
from werkzeug.exceptions import HTTPException

from explorer.errors import (
    ExplorerError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    Unavailable,
)
from explorer.views.visible import visible

_log = logging.getLogger(__name__)
_FOR_PROGRAMS = ("/api/", "/healthz", "/metrics")


class Problem(msgspec.Struct, frozen=True):
    """An error: a short title, a word for programs, and what to do."""

    error: str
    kind: str
    detail: str

    @classmethod
    def of(cls, error: ExplorerError) -> Problem:
        return cls(error.title, error.kind, error.detail)


def handle_errors(app: Flask) -> None:
    """Let every exception end here."""
    app.register_error_handler(Exception, answer)


def answer(error: Exception) -> Response:
    """What the current request is told of an error."""
    known = _translate(error)
    problem = Problem.of(known)
    if request.path.startswith(_FOR_PROGRAMS):
        response = Response(msgspec.json.encode(problem), mimetype="application/json")
    else:
        response = Response(render_template("error.html", problem=problem, status=known.status))
    response.status_code = known.status
    response.cache_control.no_store = True
    if isinstance(known, Unavailable):
        response.retry_after = known.retry_after_seconds
    if isinstance(error, HTTPException) and (allowed := getattr(error, "valid_methods", None)):
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def _translate(error: Exception) -> ExplorerError:
    """Our own exceptions as they are, the framework's by status, anything else as our mistake."""
    if isinstance(error, ExplorerError):
        if error.status >= 500 and not isinstance(error, Unavailable):
            _log.error("%s: %s", error.title, error.detail)
        return error
    if isinstance(error, HTTPException):
        if error.code == 404:
            return NotFound(f"There is nothing at {visible(request.path)}. Check the address.")
        if error.code == 405:
            return MethodNotAllowed(f"{request.method} is not possible at {visible(request.path)}.")
        if error.code is not None and 400 <= error.code < 500:
            return InvalidRequest(error.description or error.name)
    _log.exception("Unexpected error at %s", request.path, exc_info=error)
    return ExplorerError("This is a mistake of the server, and it is in its log. Try again.")
