"""The origin of a request: its ID, which is in the response and the log, and its trace."""

from __future__ import annotations

from flask import Flask, Response, request

from explorer.monitoring.origin import Origin, new_request_id

#: The server sets this variable of WSGI to the origin of the request.
ORIGIN = "triton_explorer.origin"
#: A response sets this variable of WSGI to the pattern of the address, and "" if no view has the address.
ROUTE = "triton_explorer.route"
REQUEST_ID_HEADER = "X-Request-ID"


def identify_requests(app: Flask) -> None:
    """Add the ID of each request to its response, and pass its route to the server."""
    app.after_request(_identify)


def origin() -> Origin:
    """Return the origin of the current request."""
    found: Origin = request.environ.setdefault(ORIGIN, Origin(new_request_id()))
    return found


def _identify(response: Response) -> Response:
    request.environ[ROUTE] = request.url_rule.rule if request.url_rule is not None else ""
    response.headers[REQUEST_ID_HEADER] = origin().request_id
    return response
