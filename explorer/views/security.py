"""Security headers of responses: text from user code cannot become active in a browser."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Flask, Response, g, request

from explorer.errors import InvalidRequest

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_READING = ("GET", "HEAD", "OPTIONS")

_POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "connect-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "worker-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


def allow_frames() -> None:
    """Let all sites show the current response in a frame."""
    g.frame_ancestors = "*"


def allow_wasm() -> None:
    """Let the current response, the code of a worker, compile WebAssembly.

    A worker has the policy of its own code, so the page needs no such permission.
    """
    g.script_src = "'self' 'wasm-unsafe-eval'"


def secure(app: Flask) -> None:
    """Add the headers to all responses of an application, and `csp_nonce` to its templates."""
    app.context_processor(lambda: {"csp_nonce": _nonce()})
    app.before_request(_refuse_other_sites)
    # Flask documents this way to add middleware.
    app.wsgi_app = _with_host_in_lower_case(app.wsgi_app)  # type: ignore[assignment, method-assign]
    app.after_request(_add_headers)


def _refuse_other_sites() -> None:
    """Refuse requests from pages of other sites, and of other ports of this host, except to read.

    Raises:
        InvalidRequest: another site has sent the request.
    """
    if request.method not in _READING and not _is_own():
        raise InvalidRequest(
            "The request was sent by a page of another site. Send it from a page of this server."
        )


def _is_own() -> bool:
    """Return whether the request comes from a page of this server, or from a program.

    Browsers send the first header to a secure or local address only, and the second with every cross-site
    request.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("Origin")
    return origin is None or origin.lower().partition("://")[2] == request.host


def _with_host_in_lower_case(application: WSGIApplication) -> WSGIApplication:
    """Return the application with host names in lower case, because their case has no meaning."""

    def call(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if "HTTP_HOST" in environ:
            environ["HTTP_HOST"] = environ["HTTP_HOST"].lower()
        return application(environ, start_response)

    return call


def _nonce() -> str:
    """Return the nonce of the page's own `<style>` elements, which is new for each response."""
    if "csp_nonce" not in g:
        g.csp_nonce = secrets.token_urlsafe(16)
    return str(g.csp_nonce)


def _add_headers(response: Response) -> Response:
    policy = {
        **_POLICY,
        "script-src": g.get("script_src", _POLICY["script-src"]),
        "frame-ancestors": g.get("frame_ancestors", _POLICY["frame-ancestors"]),
    }
    if "csp_nonce" in g:
        policy["style-src"] += f" 'nonce-{g.csp_nonce}'"
    response.headers["Content-Security-Policy"] = "; ".join(
        f"{name} {value}" for name, value in policy.items()
    )
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response
