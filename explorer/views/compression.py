"""Compression of responses, in an encoding that the client accepts."""

from __future__ import annotations

import gzip

import zstandard
from flask import Flask, Response, request

_SMALLEST_BYTES = 1400  # fits into one packet uncompressed
_GZIP_LEVEL = 4
_TYPES = ("text/", "application/json", "application/javascript", "image/svg+xml")


def compress(app: Flask) -> None:
    """Compress large texts: with zstd where the client accepts it, since it is faster, else with gzip."""
    app.after_request(_compress)


def _compress(response: Response) -> Response:
    media_type = response.mimetype or ""
    if not media_type.startswith(_TYPES) or media_type == "text/event-stream":
        return response
    response.vary.add("Accept-Encoding")
    encoding = _encoding()
    if (
        encoding is None
        or response.status_code != 200
        or request.method == "HEAD"
        or "Content-Encoding" in response.headers
    ):
        return response
    response.direct_passthrough = False
    data = response.get_data()
    if len(data) < _SMALLEST_BYTES:
        return response
    if encoding == "zstd":
        data = zstandard.ZstdCompressor().compress(data)
    else:
        data = gzip.compress(data, _GZIP_LEVEL, mtime=0)
    response.set_data(data)
    response.headers["Content-Encoding"] = encoding
    etag, is_weak = response.get_etag()
    if etag and not is_weak:
        response.set_etag(etag, weak=True)
    return response


def _encoding() -> str | None:
    accepted = request.accept_encodings
    return next((name for name in ("zstd", "gzip") if accepted.quality(name) > 0), None)
