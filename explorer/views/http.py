"""How views read requests and write answers: typed JSON in, JSON or plain text out, with caching."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from flask import Response, request

from explorer.errors import InvalidRequest, SourceTooLarge, UnsupportedMediaType
from explorer.store import Record

Body = TypeVar("Body")

_YEAR_SECONDS = 365 * 24 * 3600
_DRAIN_LIMIT_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
#: A character of the source takes at most six bytes of JSON ("\u0000").
_ESCAPED_BYTES = 6
_OTHER_FIELDS_BYTES = 1024 * 1024
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_FILE_NAME = 100


def read_body(wanted: type[Body], source_limit_bytes: int) -> Body:
    """Decode the JSON body of the current request.

    That it must be declared as JSON keeps other sites' forms out: a browser asks before it sends that.

    Raises:
        UnsupportedMediaType: it is declared as something else.
        SourceTooLarge: it cannot hold an acceptable source any more.
        InvalidRequest: it is no JSON, or a field is missing, unknown or of another type.
    """
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("Send the request with Content-Type: application/json.")
    limit = _ESCAPED_BYTES * source_limit_bytes + _OTHER_FIELDS_BYTES
    data = request.stream.read(limit + 1)
    if len(data) > limit:
        _drain()
        raise SourceTooLarge(
            f"The request has more than {limit:,} bytes; a source may have {source_limit_bytes:,}. "
            "Paste only the kernel and its launch."
        )
    try:
        return msgspec.json.decode(data, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"{error}. See /api/v1/openapi.json for the fields.") from error


def check_source(source: str, limit_bytes: int) -> None:
    """Refuse a source that is too long, or empty.

    Raises:
        SourceTooLarge, InvalidRequest: with what to do.
    """
    size = len(source.encode("utf-8", errors="replace"))
    if size > limit_bytes:
        raise SourceTooLarge(
            f"The source has {size:,} bytes; {limit_bytes:,} are accepted. "
            "Paste only the kernel and its launch."
        )
    if not source.strip():
        raise InvalidRequest("The source is empty. Paste a Triton kernel.")


def query_integer(name: str, default: int, minimum: int = 0) -> int:
    """An integer of the query string.

    Raises:
        InvalidRequest: it is something else, or too small.
    """
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) >= minimum):
        raise InvalidRequest(f"{name!r} must be an integer of at least {minimum}, got {text[:50]!r}.")
    return int(text)


def json_response(document: Any, status: int = 200) -> Response:
    """A document that may be another one next time."""
    return revalidated(Response(msgspec.json.encode(document), status, mimetype="application/json"))


def json_part(record: Record, document: Any) -> Response:
    """A document that depends on a stored result only."""
    return encoded_json_part(record, msgspec.json.encode(document))


def encoded_json_part(record: Record, data: bytes) -> Response:
    """The same, of a document that is JSON already."""
    return _part(record, Response(data, mimetype="application/json"))


def text_part(record: Record, text: str | bytes) -> Response:
    """A text of a result. It comes from a user's code: plain text, whatever it says."""
    return _part(record, Response(text, mimetype="text/plain"))


def binary_part(record: Record, data: bytes, media_type: str) -> Response:
    """A file made of a result."""
    return _part(record, Response(data, mimetype=media_type))


def attachment(response: Response, name: str) -> Response:
    """An answer that a browser saves as a file. What no file or header may be called becomes a dash."""
    safe = _NOT_IN_FILE_NAMES.sub("-", name)[-_LONGEST_FILE_NAME:].lstrip(".-") or "file"
    response.headers.set("Content-Disposition", "attachment", filename=safe)
    return response


def _part(record: Record, response: Response) -> Response:
    """For ever the same once the result is final."""
    if not record.is_final:
        return revalidated(response)
    response.cache_control.public = True
    response.cache_control.max_age = _YEAR_SECONDS
    response.cache_control.immutable = True
    return _with_etag(response)


def revalidated(response: Response) -> Response:
    """An answer that may be another one next time."""
    response.cache_control.no_cache = True
    return _with_etag(response)


def _with_etag(response: Response) -> Response:
    if response.status_code != 200:
        return response
    response.set_etag(sha256(response.get_data()).hexdigest()[:32], weak=True)
    response.make_conditional(request)
    return response


def _drain() -> None:
    """Read on for a while: a browser that is still sending would not see the answer."""
    for _ in range(_DRAIN_LIMIT_BYTES // _CHUNK_BYTES):
        if not request.stream.read(_CHUNK_BYTES):
            return
