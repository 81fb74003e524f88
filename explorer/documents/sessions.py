"""A session: the kernels of a captured program, each with the compilation of the program."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated, Literal

import msgspec

from explorer.documents.links import API, ApiLinks
from explorer.documents.parts import ResourcesDocument
from explorer.errors import DamagedText, InvalidRequest, NotFound
from explorer.model import Argument, Scalar
from explorer.model.limits import MOST_CAPTURED_KERNELS, MOST_LAUNCHES, MOST_PROBLEMS
from explorer.model.requests import SCRIPT_TASKS
from explorer.pipeline.targets.machine_code import machine_code_digest
from explorer.store import Collection, Record, Status, Store
from explorer.store.address import Address

_Id = Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z]{1,44}$")]
#: The comparison of the binary compiled here with the program's binary: the same bytes, the same code with
#: other debug information, other code, not compiled yet, not comparable, or compiled here only.
Agreement = Literal["equal", "equal code", "different", "waiting", "unknown", "only here"]


class SessionKernel(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A kernel of a session. `compilation` is the compilation of the program, `again` the compilation here.

    `launches` is None if they were not counted, `milliseconds` is None if the program compiled nothing
    because Triton's cache had the kernel.
    """

    compilation: _Id
    again: _Id | None = None
    launches: Annotated[int, msgspec.Meta(ge=0, le=MOST_LAUNCHES)] | None = None
    milliseconds: Annotated[float, msgspec.Meta(ge=0)] | None = None


class SessionProblem(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A kernel or a file that is missing in a session, and why."""

    name: Annotated[str, msgspec.Meta(max_length=200)]
    reason: Annotated[str, msgspec.Meta(max_length=1000)]


# Without problems, the body equals the body of earlier versions: equal sessions have one address.
class SessionBody(msgspec.Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The kernels of a program that were submitted as captures, and the unreadable kernels and files."""

    title: Annotated[str, msgspec.Meta(max_length=200)]
    kernels: Annotated[list[SessionKernel], msgspec.Meta(min_length=1, max_length=MOST_CAPTURED_KERNELS)]
    problems: Annotated[list[SessionProblem], msgspec.Meta(max_length=MOST_PROBLEMS)] = []


class SessionRow(msgspec.Struct, frozen=True):
    """A row of the table of a session. `url` is the page of the program's compilation."""

    id: str
    url: str
    kernel: str
    status: Status
    target: str
    triton: str
    arguments: tuple[Argument, ...]
    grid: tuple[int, ...] | None
    options: dict[str, Scalar]
    launches: int | None
    milliseconds: float | None
    resources: ResourcesDocument | None
    error: str | None
    again: str | None
    again_url: str | None
    compare_url: str | None
    agreement: Agreement


class SessionDocument(msgspec.Struct, frozen=True):
    """A captured program. A kernel that the server has removed since is counted in `removed`."""

    id: str
    url: str
    title: str
    created: datetime
    kernels: list[SessionRow]
    removed: int
    problems: list[SessionProblem]

    @classmethod
    def of(cls, stored: Collection, store: Store) -> SessionDocument:
        body = session_of(stored.content)
        rows = [row for kernel in body.kernels if (row := _row(store, kernel)) is not None]
        removed = len(body.kernels) - len(rows)
        url = session_url(stored.id)
        return cls(stored.id, url, body.title, stored.created, rows, removed, body.problems)


def session_of(content: bytes) -> SessionBody:
    return msgspec.json.decode(content, type=SessionBody)


def session_url(session_id: str) -> str:
    return f"/s/{session_id}"


def session_api(session_id: str) -> str:
    return f"{API}/sessions/{session_id}"


def session_key(body: SessionBody, store: Store) -> str:
    """Return the key of a session: of its first private kernel, or "" if none is private.

    Raises:
        InvalidRequest: a kernel is listed twice, or the server has none of the kernels.
    """
    ids = Counter(kernel.compilation for kernel in body.kernels)
    most_frequent, count = ids.most_common(1)[0]
    if count > 1:
        raise InvalidRequest(
            f"The list has the kernel {most_frequent!r} {count} times. List each kernel once."
        )
    found = [record for each in ids if (record := _find(store, each)) is not None]
    if not found:
        raise InvalidRequest(
            "The server has none of these kernels. Send each one to /api/v1/captures, which returns its ID."
        )
    again = [_find(store, kernel.again) for kernel in body.kernels]
    keys = (record.request.private for record in (*found, *again) if record is not None)
    return next(filter(None, keys), "")


def _row(store: Store, kernel: SessionKernel) -> SessionRow | None:
    own, again = _find(store, kernel.compilation), _find(store, kernel.again)
    if own is None:
        return None
    result, request = own.result, own.request
    specialized = result.specialized
    error = next(iter(result.error_messages), None)
    return SessionRow(
        id=own.id,
        url=ApiLinks(own.id).page,
        kernel=own.kernel or (request.captured.kernel if request.captured else "") or "kernel",
        status=own.status,
        target=request.target,
        triton=request.captured.triton if request.captured else request.triton,
        arguments=specialized.arguments if specialized else (),
        grid=specialized.grid if specialized else None,
        options=specialized.options if specialized else {},
        launches=kernel.launches,
        milliseconds=kernel.milliseconds,
        resources=ResourcesDocument.of(result.resources, request.target) if result.resources else None,
        error=error,
        again=again.id if again else None,
        again_url=ApiLinks(again.id).page if again else None,
        compare_url=f"/compare/{own.id}..{again.id}" if again else None,
        agreement=_agreement(own, again),
    )


def _find(store: Store, record_id: str | None) -> Record | None:
    if record_id is None:
        return None
    try:
        record = store.find(record_id)
    except NotFound:
        return None
    is_compilation = record.request.run is None and record.request.task in SCRIPT_TASKS
    return record if is_compilation else None


def _agreement(own: Record, again: Record | None) -> Agreement:
    if own.request.captured is None:
        return "only here"
    if again is None:
        return "unknown"
    if not (own.is_finished and again.is_finished):
        return "waiting"
    first, second = own.result.binary, again.result.binary
    if first is None or second is None:
        return "unknown"
    if first.data == second.data:
        return "equal"
    try:
        codes = {_code(record, binary.data) for record, binary in ((own, first), (again, second))}
    except DamagedText:
        return "unknown"
    if None in codes:
        return "unknown"
    return "equal code" if len(codes) == 1 else "different"


def _code(record: Record, address: Address) -> str | None:
    """Return the digest of the machine code of a binary."""
    known = _codes.get(address)
    if known is None:
        if len(_codes) >= _MOST_CODES:
            _codes.clear()
        known = _codes[address] = (machine_code_digest(record.read(address)),)
    return known[0]


_MOST_CODES = 20_000
#: Digests of binaries by their addresses: the content of an address never changes.
_codes: dict[Address, tuple[str | None]] = {}
