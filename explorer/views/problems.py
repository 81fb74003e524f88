"""Error responses: a JSON document for programs, a page for people."""

from __future__ import annotations

import logging

import msgspec
from flask import Flask, Response, render_template, request
from werkzeug.exceptions import HTTPException, RequestedRangeNotSatisfiable

from explorer.documents import Problem
from explorer.errors import (
    ExplorerError,
    Forbidden,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    RangeNotSatisfiable,
    StoreError,
    Unauthorized,
    Unavailable,
)
from explorer.services import services
from explorer.views.accounts import login_url
from explorer.views.privacy import is_about_private
from explorer.views.request_ids import work_context
from explorer.views.visible import visible

_log = logging.getLogger(__name__)
_FOR_PROGRAMS = ("/api/", "/healthz", "/livez", "/metrics", "/mcp")


def handle_errors(app: Flask) -> None:
    """Handle all exceptions of an application."""
    app.register_error_handler(Exception, answer)


def answer(error: Exception) -> Response:
    """Return the response to the current request for an exception."""
    known = _translate(error)
    problem = Problem.of(known, work_context().request_id)
    services().metrics.problems.labels(known.kind).inc()
    if request.path.startswith(_FOR_PROGRAMS):
        response = Response(msgspec.json.encode(problem), mimetype="application/json")
    else:
        page = render_template(
            "error.html", problem=problem, status=known.status, login_url=_login_url(known)
        )
        response = Response(page)
    response.status_code = known.status
    response.cache_control.no_store = True
    if known.retry_after_seconds:
        response.retry_after = known.retry_after_seconds
    if isinstance(error, RequestedRangeNotSatisfiable):
        response.headers["Content-Range"] = f"{error.units} */{error.length}"
    if isinstance(error, HTTPException) and (allowed := getattr(error, "valid_methods", None)):
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def _login_url(error: ExplorerError) -> str | None:
    """Return the sign-in address if signing in may help against an error; it leads back to the page."""
    may_help = isinstance(error, Unauthorized | Forbidden) or is_about_private()
    page = request.path if request.method == "GET" and not request.path.startswith("/login") else "/"
    return login_url(page) if may_help else None


def _translate(error: Exception) -> ExplorerError:
    """Return our own exceptions as they are, the framework's by status, others as an internal error."""
    if isinstance(error, ExplorerError):
        if error.status >= 500 and (isinstance(error, StoreError) or not isinstance(error, Unavailable)):
            _log.error("%s: %s", error.title, error.detail)
        return error
    if isinstance(error, HTTPException):
        if error.code == 404:
            return NotFound(f"There is no page at {visible(request.path)}. Check the address.")
        if error.code == 405:
            return MethodNotAllowed(f"{visible(request.path)} does not support {request.method}.")
        if error.code == 416:
            return RangeNotSatisfiable("The file is shorter than the requested range. Request less of it.")
        if error.code is not None and 400 <= error.code < 500:
            return InvalidRequest(error.description or error.name)
    _log.exception("Unexpected error at %r", request.path, exc_info=error)
    return ExplorerError("Internal error. The server's log has the traceback. Try again.")
