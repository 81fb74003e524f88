"""Headers on every answer: nothing that a user's code has written can become active in a browser."""

from __future__ import annotations

import secrets

from flask import Flask, Response, g, request

from explorer.errors import InvalidRequest

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


def policy_text(directives: dict[str, str]) -> str:
    """A Content-Security-Policy as it is written."""
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def allow_frames() -> None:
    """Let any site show the current answer in a frame. What it can load stays as it is."""
    g.frame_ancestors = "*"


def allow_wasm() -> None:
    """Let the current answer, the code of a worker, compile WebAssembly.

    A worker's policy is that of its own code, so that the page itself needs no such right.
    """
    g.script_src = "'self' 'wasm-unsafe-eval'"


def secure(app: Flask) -> None:
    """Put the headers on every answer, and offer `csp_nonce` to the templates."""
    app.context_processor(lambda: {"csp_nonce": _nonce()})
    app.before_request(_refuse_other_sites)
    app.after_request(_add_headers)


def _refuse_other_sites() -> None:
    """Only our own pages, and programs, start or stop something: a form of another site does not."""
    if request.method not in _READING and request.headers.get("Sec-Fetch-Site") == "cross-site":
        raise InvalidRequest("A page of another site has sent this. Open this one, and do it there.")


def _nonce() -> str:
    """What lets the page's own `<style>` elements through: another one for each answer."""
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
    response.headers["Content-Security-Policy"] = policy_text(policy)
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response
