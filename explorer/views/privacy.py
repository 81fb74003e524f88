"""Responses about private results: nobody but the browser keeps them, and no search engine lists them.

A private result is recognized by its ID, so that this also applies to one that does not exist any more.
"""

from __future__ import annotations

from flask import Flask, Response, request

from explorer.store.address import is_private
from explorer.views.http import IS_KEPT

_HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}


def protect_private(app: Flask) -> None:
    """Protect all responses of an application that are about private results."""
    app.after_request(_protect)


def is_about_private() -> bool:
    """Return whether the current request names a private result."""
    ids = [value for name, value in (request.view_args or {}).items() if name.endswith("_id")]
    return any(map(is_private, (*ids, request.args.get("compilation", ""))))


def _protect(response: Response) -> Response:
    if not is_about_private():
        return response
    request.environ.pop(IS_KEPT, None)
    response.headers.update(_HEADERS)
    if not response.cache_control.no_store:
        response.headers["Cache-Control"] = "private, no-cache"
    return response
