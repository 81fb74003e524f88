"""Read requests and make responses: typed JSON in; JSON, text or files out, with caching headers."""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from flask import Response, request

from explorer.errors import InvalidRequest, SourceTooLarge, UnsupportedMediaType
from explorer.services import services
from explorer.store import Record

Body = TypeVar("Body")

#: The variable of WSGI with the server's function that returns whether the client still waits.
CLIENT_IS_WAITING = "triton_explorer.client_is_waiting"

#: A view sets this variable of WSGI if the server may send the response again; see `let_server_keep`.
IS_KEPT = "triton_explorer.is_kept"

#: The media type of an uploaded file. A browser does not send it to another site without a preflight request.
FILE_TYPE = "application/octet-stream"

_YEAR_SECONDS = 365 * 24 * 3600
#: A character of the source takes at most six bytes of JSON ("\u0000").
_ESCAPED_BYTES = 6
_OTHER_FIELDS_BYTES = 1024 * 1024
#: The maximum number of brackets in a body, including the source. While a body is decoded, no other thread
#: runs, and objects and lists take most of that time.
_MOST_BRACKETS = 400_000
_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_FILE_NAME = 100


def read_body(wanted: type[Body], source_limit_bytes: int) -> Body:
    """Decode the JSON body of the current request.

    The body must be declared as JSON: a browser does not send JSON to another site without a preflight
    request.

    Raises:
        UnsupportedMediaType: the body is declared as something else.
        TooManyRequests: the client has sent too much.
        SourceTooLarge: the body is longer than any with an accepted source.
        InvalidRequest: the body is not JSON or has too many brackets, or a field is missing, unknown or of
            another type.
    """
    limit = body_limit_bytes(source_limit_bytes)
    data = _read("application/json", limit)
    if len(data) > limit:
        raise SourceTooLarge(
            f"The request has more than {limit:,} bytes; the limit of a source is {source_limit_bytes:,}. "
            "Give only the kernel and its launch."
        )
    return decode_body(data, wanted)


def decode_body(data: bytes, wanted: type[Body]) -> Body:
    """Decode the body of a request.

    Raises:
        InvalidRequest: as `read_body`.
    """
    check_brackets(data)
    try:
        return msgspec.json.decode(data, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"{error}. See /api/v1/openapi.json for the fields.") from error


def read_file_body(source_limit_bytes: int) -> bytes:
    """Return the body of the current request, which is a file.

    Raises:
        UnsupportedMediaType: the body is declared as something else.
        TooManyRequests: the client has sent too much.
        SourceTooLarge: the file is longer than allowed for a body.
    """
    limit = body_limit_bytes(source_limit_bytes)
    data = _read(FILE_TYPE, limit)
    if len(data) > limit:
        raise SourceTooLarge(
            f"The file has more than {limit:,} bytes. Compress it, or send it with `triton-explorer push`."
        )
    return data


def _read(media_type: str, limit: int) -> bytes:
    """Read the body of the current request, and a byte more than the limit if it is longer."""
    if request.mimetype != media_type:
        raise UnsupportedMediaType(f"Send the request with Content-Type: {media_type}.")
    data = request.stream.read(limit + 1)
    services().rates.count("bytes", len(data))
    return data


def check_brackets(data: bytes) -> None:
    """Check the number of objects and lists of a body before it is decoded.

    Raises:
        InvalidRequest: there are too many objects and lists.
    """
    brackets = data.count(b"{") + data.count(b"[")
    if brackets > _MOST_BRACKETS:
        raise InvalidRequest(
            f"The request has {brackets:,} opening brackets; the limit is {_MOST_BRACKETS:,}. "
            "Send fewer objects and lists."
        )


def body_limit_bytes(source_limit_bytes: int) -> int:
    """Return the greatest length of a body with an accepted source."""
    return _ESCAPED_BYTES * source_limit_bytes + _OTHER_FIELDS_BYTES


def check_source(source: str, limit_bytes: int) -> None:
    """Check the length of a source.

    Raises:
        SourceTooLarge: the source is too long.
        InvalidRequest: the source is empty.
    """
    size = len(source.encode("utf-8", errors="replace"))
    if size > limit_bytes:
        raise SourceTooLarge(
            f"The source has {size:,} bytes; the limit is {limit_bytes:,}. "
            "Give only the kernel and its launch."
        )
    if not source.strip():
        raise InvalidRequest("The source is empty. Give a Triton kernel.")


def query_integer(name: str, default: int, minimum: int = 0) -> int:
    """Return an integer of the query string.

    Raises:
        InvalidRequest: the text is not an integer, or the integer is too small.
    """
    text = request.args.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and int(text) >= minimum):
        raise InvalidRequest(f"{name!r} must be an integer of at least {minimum}, got {text[:50]!r}.")
    return int(text)


def client_is_waiting() -> Callable[[], bool]:
    """Return a function that returns whether the client of the current request still waits for the response.

    Without a connection, as in a test, the function always returns True.
    """
    is_waiting: Callable[[], bool] = request.environ.get(CLIENT_IS_WAITING, lambda: True)
    return is_waiting


def json_response(document: Any, status: int = 200) -> Response:
    """Return a document that may change; clients revalidate it."""
    return revalidated(Response(msgspec.json.encode(document), status, mimetype="application/json"))


def json_part(record: Record, document: Any) -> Response:
    """Return a document that depends on a stored result only."""
    return encoded_json_part(record, msgspec.json.encode(document))


def encoded_json_part(record: Record, data: bytes) -> Response:
    """Return an encoded document that depends on a stored result only."""
    return _part(record, Response(data, mimetype="application/json"))


def text_part(record: Record, text: str | bytes) -> Response:
    """Return a text of a result as plain text, since user code may have made it."""
    return _part(record, Response(text, mimetype="text/plain"))


def binary_part(record: Record, data: bytes, media_type: str) -> Response:
    """Return a file that depends on a stored result only."""
    return _part(record, Response(data, mimetype=media_type))


def attachment(response: Response, name: str) -> Response:
    """Make a browser save a response as a file. Unsafe characters of its name become dashes."""
    safe = _NOT_IN_FILE_NAMES.sub("-", name)[-_LONGEST_FILE_NAME:].lstrip(".-") or "file"
    response.headers.set("Content-Disposition", "attachment", filename=safe)
    return response


def let_server_keep(response: Response) -> Response:
    """Let the server send the response again for some seconds, until the store has another revision."""
    request.environ[IS_KEPT] = True
    return response


def _part(record: Record, response: Response) -> Response:
    """Let clients keep the response, if the result is final."""
    if not record.is_final:
        return revalidated(response)
    response.cache_control.public = True
    response.cache_control.max_age = _YEAR_SECONDS
    response.cache_control.immutable = True
    return let_server_keep(_with_etag(response))


def revalidated(response: Response) -> Response:
    """Let clients keep the response, but revalidate it."""
    response.cache_control.no_cache = True
    return _with_etag(response)


def _with_etag(response: Response) -> Response:
    if response.status_code != 200:
        return response
    response.set_etag(sha256(response.get_data()).hexdigest()[:32], weak=True)
    response.make_conditional(request)
    return response
