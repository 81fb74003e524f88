"""The ID of a request, which is in the response and the log, and its work context."""

from __future__ import annotations

from flask import Flask, Response, request

from explorer.monitoring.work_context import WorkContext, new_request_id

#: The server sets this variable of WSGI to the work context of the request.
WORK_CONTEXT = "triton_explorer.work_context"
#: A response sets this variable of WSGI to the pattern of the address, and "" if no view has the address.
ROUTE = "triton_explorer.route"
REQUEST_ID_HEADER = "X-Request-ID"


def identify_requests(app: Flask) -> None:
    """Add the ID of each request to its response, and pass its route to the server."""
    app.after_request(_identify)


def work_context() -> WorkContext:
    """Return the work context of the current request."""
    found: WorkContext = request.environ.setdefault(WORK_CONTEXT, WorkContext(new_request_id()))
    return found


def _identify(response: Response) -> Response:
    request.environ[ROUTE] = request.url_rule.rule if request.url_rule is not None else ""
    response.headers[REQUEST_ID_HEADER] = work_context().request_id
    return response
