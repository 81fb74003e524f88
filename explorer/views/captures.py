"""Captures and sessions: the kernels that a running program compiled, one by one and as a whole."""

from __future__ import annotations

import base64
import binascii
import time
from dataclasses import replace
from typing import Annotated

import msgspec
from flask import Blueprint, Response, request

from explorer.capture.read import Damaged
from explorer.documents import API, ApiLinks
from explorer.documents.files import check_files
from explorer.documents.sessions import (
    SessionBody,
    SessionDocument,
    SessionKernel,
    SessionProblem,
    session_api,
    session_key,
    session_url,
)
from explorer.errors import ExplorerError, InvalidRequest, QueueFull, TooManyRequests, Unavailable
from explorer.jobs.isolated_process import Awaited
from explorer.jobs.uploads import UploadedKernel, UploadTitle
from explorer.model import BINARY_STAGES, Captured, Origin, Request, Scalar
from explorer.model.limits import MOST_LAUNCHES, MOST_STEP_MILLISECONDS
from explorer.queries import Parameter
from explorer.services import services
from explorer.store import Record, compilation_of
from explorer.views.caller import FOLLOWER
from explorer.views.compilations import Ticket
from explorer.views.http import (
    FILE_TYPE,
    body_limit_bytes,
    check_source,
    client_is_waiting,
    decode_body,
    json_response,
    read_body,
    read_file_body,
)
from explorer.views.operation import documented
from explorer.views.privacy import check_can_open
from explorer.views.records import store_collection, stored_session
from explorer.views.requests import (
    CompilationBody,
    Files,
    Private,
    check_size,
    private_key,
    requested_compilation,
)

blueprint = Blueprint("captures", __name__, url_prefix=API)

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_StageName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_.-]{1,40}$")]
_Line = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]
_Value = Annotated[str, msgspec.Meta(max_length=10_000)] | int | float | bool | None
_Values = Annotated[dict[_Name, _Value], msgspec.Meta(max_length=200)]

NAME = Parameter(
    "name", str, "The name of the file. Its suffix says how it is read: .ndjson, .log, .cubin, .zip, …"
)
PRIVATE = Parameter(
    "private", str, "The key of private results, as in a compilation. By default, the results are public."
)
#: How long an import waits for places in the queue, and how often it tries.
_WAIT_SECONDS = 20.0
_FULL_SECONDS = 0.5


class OriginBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The origin of lines of the script: `lines` lines, from `line` of `file` on."""

    file: Annotated[str, msgspec.Meta(max_length=4096)]
    line: _Line
    lines: _Line
    script_line: _Line


class CaptureBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A kernel that a running program compiled. The stages have Triton's names; a binary is in base 64.

    `triton` is the version of the program. `files` are the files of the program to which lines of the script
    refer, by their paths below a common folder. `again`: compile the script here, too.
    `private` has the meaning of a compilation's `private`.
    """

    source: str
    target: _Name
    triton: _Name
    kernel: _Name
    stages: Annotated[dict[_StageName, str], msgspec.Meta(max_length=32)]
    origins: Annotated[list[OriginBody], msgspec.Meta(max_length=10_000)] = []
    options: _Values = {}
    metadata: _Values = {}
    milliseconds: Annotated[
        dict[_Name, Annotated[float, msgspec.Meta(ge=0, le=MOST_STEP_MILLISECONDS)]],
        msgspec.Meta(max_length=40),
    ] = {}
    error: Annotated[str, msgspec.Meta(max_length=100_000)] = ""
    files: Files = {}
    again: bool = True
    private: Private = False


class CaptureTicket(Ticket, frozen=True):
    """The addresses of a captured kernel. `again` is the compilation of its script here, or None."""

    again: str | None


class ImportDocument(msgspec.Struct, frozen=True):
    """The kernels of a file, as entries of a session, and the parts that could not be read.

    `title` has the names of the programs, if they are known.
    """

    title: str
    kernels: list[SessionKernel]
    problems: list[SessionProblem]


class SessionTicket(msgspec.Struct, frozen=True):
    """The addresses of a session: its page and its document."""

    id: str
    url: str
    api: str


@blueprint.post("/captures")
@documented({200: CaptureTicket, 202: CaptureTicket}, CaptureBody, FOLLOWER)
def submit() -> Response:
    """Show a kernel that a running program compiled.

    The status is 200 if the result is stored, and 202 if it is being read. If the program's version of
    Triton is installed here, the kernel is also compiled here, with all passes.
    """
    here = services()
    record, again = _submit(*_checked(read_body(CaptureBody, here.settings.source_limit_bytes)))
    links = ApiLinks(record.id)
    ticket = CaptureTicket(record.id, links.page, links.api, links.events, record.status, again)
    return json_response(ticket, 200 if record.is_finished else 202)


@blueprint.post("/imports")
@documented({200: ImportDocument}, FILE_TYPE, NAME, PRIVATE, FOLLOWER)
def submit_import() -> Response:
    """Show the kernels of a file that other tools have written, or of a capture.

    The file is a trace of tritonparse, a log of PyTorch's compiler, a cubin, or a zip archive with a
    folder: a capture, Triton's cache, a dump, traces, or cubins. While the client has too many jobs in the
    queue, the response waits. A long wait is refused with 429; repeating the request then continues where the
    first one stopped.
    """
    here = services()
    limit = here.settings.source_limit_bytes
    private = _private_parameter()
    data = read_file_body(limit)
    is_waiting = client_is_waiting()
    until = time.monotonic() + _WAIT_SECONDS
    kernels: dict[str, SessionKernel] = {}
    problems, title = [], ""
    for found in here.uploads.read(data, request.args.get("name", ""), body_limit_bytes(limit), is_waiting):
        match found:
            case UploadTitle(text):
                title = text
            case Damaged(name, reason):
                problems.append(SessionProblem(name, reason))
            case UploadedKernel():
                try:
                    kernel = _submit_uploaded(found, private, is_waiting, until)
                except (Unavailable, TooManyRequests):
                    raise
                except ExplorerError as error:
                    problems.append(SessionProblem(found.name[:200], error.detail[:1000]))
                else:
                    kernels[kernel.compilation] = _merged(kernels.get(kernel.compilation), kernel)
    return json_response(ImportDocument(title, list(kernels.values()), problems))


@blueprint.post("/sessions")
@documented({200: SessionTicket}, SessionBody)
def submit_session() -> Response:
    """Make a page of captured kernels. Equal sessions are stored once."""
    here = services()
    body = read_body(SessionBody, here.settings.source_limit_bytes)
    check_can_open(*(each for kernel in body.kernels for each in (kernel.compilation, kernel.again) if each))
    content = msgspec.json.encode(body)
    record = store_collection("session", content, session_key(body, here.store))
    return json_response(SessionTicket(record.id, session_url(record.id), session_api(record.id)))


@blueprint.get("/sessions/<session_id>")
@documented({200: SessionDocument})
def show_session(session_id: str) -> Response:
    """Return the kernels of a session: their resources, and whether the code compiled here is the same."""
    return json_response(SessionDocument.of(stored_session(session_id), services().store))


def _private_parameter() -> str:
    """Return the key of private results in the address of the current request.

    Raises:
        InvalidRequest: the parameter is not a key.
    """
    try:
        return private_key(msgspec.convert(request.args.get(PRIVATE.name, False), Private))
    except msgspec.ValidationError as error:
        raise InvalidRequest(f"'private' must have 32 to 64 hexadecimal digits: {error}.") from error


def _submit_uploaded(found: UploadedKernel, private: str, is_waiting: Awaited, until: float) -> SessionKernel:
    """Submit a kernel of an upload, and return its entry in a session.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge.
        TooManyRequests, QueueFull: the queue has no place until this time.
    """
    here = services()
    if found.address == "compilations":
        body = decode_body(found.body, CompilationBody)
        asked, is_compiled_here = requested_compilation(here, body), False
    else:
        asked, is_compiled_here = _checked(decode_body(found.body, CaptureBody))
    asked = replace(asked, private=private)
    while True:
        try:
            record, again = _submit(asked, is_compiled_here)
        except (QueueFull, TooManyRequests):
            if not is_waiting() or time.monotonic() > until:
                raise
            time.sleep(_FULL_SECONDS)
        else:
            return SessionKernel(record.id, again, found.launches, found.milliseconds)


def _submit(asked: Request, is_compiled_here: bool) -> tuple[Record, str | None]:
    """Submit a kernel. Return its record, and the ID of the compilation here."""
    queue = services().queue
    record = queue.submit(asked)
    return record, queue.submit(compilation_of(asked)).id if is_compiled_here else None


def _merged(present: SessionKernel | None, kernel: SessionKernel) -> SessionKernel:
    """Return the entry of kernels that differ only in properties that the server does not show."""
    if present is None or kernel.launches is None:
        return present or kernel
    return msgspec.structs.replace(
        present, launches=min((present.launches or 0) + kernel.launches, MOST_LAUNCHES)
    )


def _checked(body: CaptureBody) -> tuple[Request, bool]:
    """Return the request of a body, and whether to compile the script here.

    Raises:
        InvalidRequest and its subclasses, SourceTooLarge.
    """
    here = services()
    check_source(body.source, here.settings.source_limit_bytes)
    check_files("", body.files)
    for name in BINARY_STAGES:
        try:
            base64.b64decode(body.stages.get(name, ""), validate=True)
        except (ValueError, binascii.Error) as error:
            raise InvalidRequest(f"The stage {name!r} is not in base 64: {error}.") from error
    options: dict[str, Scalar] = dict(body.options)
    metadata: dict[str, Scalar] = dict(body.metadata)
    asked = Request(
        source=body.source,
        target=here.target_name(body.target),
        # Different Triton versions can read the binary.
        triton=body.triton if body.triton in here.versions else here.triton_version(None),
        kernel=body.kernel,
        files=body.files,
        task="captured",
        captured=Captured(
            kernel=body.kernel,
            triton=body.triton,
            stages=body.stages,
            origins=tuple(
                Origin(each.file, each.line, each.lines, each.script_line) for each in body.origins
            ),
            options=options,
            metadata=metadata,
            milliseconds=body.milliseconds,
            error=body.error,
        ),
        private=private_key(body.private),
    )
    check_size(asked, here.settings.source_limit_bytes)
    return asked, body.again and body.triton == asked.triton
