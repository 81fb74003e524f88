"""Runs a query in a separate process, with limits on time, memory and the size of the answer.

User code can forge stored results, so that a query may need any amount of time or memory. The process asks
its parent for texts and for compilations, by JSON over a pipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from typing import Any, Literal, NoReturn

import msgspec

from explorer.errors import ExplorerError, NotAnswerable, ResultTooLarge
from explorer.jobs.caller import current_caller, work_for
from explorer.jobs.fairness import Check, do_nothing
from explorer.jobs.isolated_process import (
    Awaited,
    Conversation,
    IsolatedProcesses,
    Limits,
    abandoned,
    confine_process,
    error_of,
    outcome_of,
)
from explorer.model import Request
from explorer.model.languages import LANGUAGES
from explorer.queries.query import Compiler, Query, Subject
from explorer.store import Record

_TOO_DEEP = "The stored texts are nested too deeply."
_TOO_MUCH = (
    "The query needs too much time or memory: the stored result is too large. "
    "Reduce the block sizes, or query a smaller kernel."
)
#: Processes for uploads are forked from the same fork server.
_UPLOADS = "explorer.jobs.uploads"


class _Message(msgspec.Struct):
    """A message of the process. `found` is followed by the answer, in bytes.

    `read` asks for the text at the address `text` of the record with index `record`. `prepare` announces a
    request that `ask` sends later for the query `text`. `cached` asks for the answer to the query `text` with
    `parameters`: the parent has it (`found`), does not have it (`cached`), or refuses it (`refused`). `found`
    has the answer to the query, and `unanswered` says that there is none.
    """

    kind: Literal[
        "read", "prepare", "ask", "complete", "cached", "found", "unanswered", "refused", "failed", "end"
    ]
    text: str = ""
    detail: str = ""
    record: int = 0
    request: Request | None = None
    parameters: dict[str, str] = {}


_decode = msgspec.json.Decoder(_Message).decode
_encode = msgspec.json.encode
#: Returns the cached answer to a query with these parameters, or None, or raises ResultTooLarge.
Cached = Callable[[Query, Mapping[str, str]], bytes | None]
Asked = tuple[Query, Mapping[str, str]]
Found = tuple[Query, Mapping[str, str], bytes]


class LimitExceeded(ResultTooLarge):
    """An answer needs more than a limit. `query` and `parameters` are of the answer that was computed."""

    def __init__(self, detail: str, query: Query, parameters: Mapping[str, str]) -> None:
        super().__init__(detail)
        self.query = query
        self.parameters = parameters


class IsolatedWorkers:
    """Starts and ends the processes of queries. Safe to use from many threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._processes = IsolatedProcesses(limits or Limits(), _TOO_MUCH)
        self._processes.preload([__name__, "explorer.queries", *_readers(), _UPLOADS])

    @property
    def running(self) -> frozenset[Any]:
        """The processes that compute."""
        return self._processes.running

    def warm_up(self) -> None:
        """Start the fork server of the processes: its imports take a second."""
        self._processes.warm_up()

    def close(self) -> None:
        """End all processes. Threads that wait for one get an `Unavailable`."""
        self._processes.close()

    def find(
        self, query: Query, subject: Subject, cached: Cached, is_awaited: Awaited = lambda: True
    ) -> Iterator[Found]:
        """Compute the uncached answers that the query uses, and then the answer to the query.

        One process computes all of them: JSON, a text or bytes.

        Raises:
            ExplorerError: raised by the query, the store or the queue.
            LimitExceeded: the query, or a query that it uses, needs too much time or memory.
            Unavailable: no client waits for the answer, or the server is too busy or shutting down.
        """
        records = tuple(_without_texts(record) for record in subject.records)
        arguments = (query.name, records, dict(subject.parameters))
        computed: list[Asked] = [(query, subject.parameters)]
        try:
            with self._processes.conversation(_work, arguments, is_awaited) as conversation:
                yield from _serve(conversation, computed, subject, cached)
        except ResultTooLarge as error:
            raise LimitExceeded(error.detail, *computed[-1]) from error


class _Prepared:
    """Answers of the compiler that are computed while the process has other work, one after the other."""

    def __init__(self, compiler: Compiler, check: Check) -> None:
        self._compiler = compiler
        self._check_process = check
        self._caller = current_caller()
        self._threads = ThreadPoolExecutor(1)
        self._records: list[tuple[Request, Future[Record]]] = []
        self._is_closed = False

    def prepare(self, request: Request) -> None:
        """Begin a compiler query."""
        self._records.append((request, self._threads.submit(self._ask, request)))

    def ask(self, request: Request, check: Check) -> Record:
        """Return the answer of the compiler."""
        for prepared, record in self._records:
            # If the query has failed, for example because of other queries of this client, repeat it once.
            if prepared == request and record.exception() is None:
                return record.result()
        return self._compiler.ask(request, check)

    def close(self) -> None:
        """End compiler queries whose answers were not requested."""
        self._is_closed = True
        self._threads.shutdown(cancel_futures=True)

    def _ask(self, request: Request) -> Record:
        work_for(self._caller)
        return self._compiler.ask(request, self._check)

    def _check(self) -> None:
        if self._is_closed:
            raise abandoned()
        self._check_process()


def _serve(process: Conversation, computed: list[Asked], subject: Subject, cached: Cached) -> Iterator[Found]:
    """Send a process the requested data, and yield its answers, until it ends.

    `computed` has the queries that the process answers at the moment, the innermost last.
    """
    with closing(_Prepared(subject.compiler, process.check)) as prepared:
        yield from _serve_prepared(process, computed, subject, cached, prepared)


def _serve_prepared(
    process: Conversation, computed: list[Asked], subject: Subject, cached: Cached, prepared: _Prepared
) -> Iterator[Found]:
    records = [*subject.records]

    def send_record(record: Record) -> None:
        """Send a record whose texts the process may then read."""
        records.append(record)
        process.send_object(_without_texts(record))

    while True:
        message = _decode(process.receive())
        match message.kind:
            case "read":
                record = records[message.record]
                assert record is not None
                process.send(record.read(message.text))
            case "prepare":
                assert message.request is not None
                with suppress(ResultTooLarge):  # a refused query needs no answer of the compiler
                    if cached(_query(message.text), {}) is None:
                        prepared.prepare(message.request)
            case "ask":
                assert message.request is not None
                send_record(prepared.ask(message.request, process.check))
            case "complete":
                assert message.request is not None
                send_record(subject.compiler.complete(message.request, process.check))
            case "cached":
                wanted = _query(message.text), message.parameters
                try:
                    known = cached(*wanted)
                except ResultTooLarge as error:
                    process.send(_encode(_Message("refused", detail=error.detail)))
                    continue
                process.send(_encode(_Message("cached" if known is None else "found")))
                if known is None:
                    computed.append(wanted)
                else:
                    process.send(known)
            case "found":
                query, parameters = computed.pop()
                if (message.text, message.parameters) != (query.name, dict(parameters)):
                    raise ExplorerError(f"The answer to {message.text} came in place of {query.name}.")
                yield query, parameters, process.receive()
            case "unanswered":
                computed.pop()
            case "end":
                return
            case "refused" | "failed":
                raise error_of(message.kind, message.text, message.detail, "query")


def _query(name: str) -> Query:
    from explorer.queries import FILES, QUERIES

    return next(each for each in (*QUERIES, *FILES) if each.name == name)


def _readers() -> set[str]:
    """Return the modules that queries import when they meet a language."""
    paths = {path for each in LANGUAGES.values() for path in (each.control_flow, each.purpose) if path}
    return {path.partition(":")[0] for path in paths}


def _without_texts(record: Record | None) -> Record | None:
    """Return a record that can be sent through a pipe."""
    return None if record is None else replace(record, read=_read_nothing, stream=None)


def _read_nothing(_address: str) -> NoReturn:
    raise AssertionError("this record has no texts")


# --- in the process -----------------------------------------------------------------------------


class _Parent:
    """The store and the queue, at the other end of the pipe."""

    def __init__(self, pipe: Connection, records: int) -> None:
        self._pipe = pipe
        #: How many records the other end knows: the records of the subject, and the records that it has sent.
        self._records = records
        self._asked: list[tuple[Request, Record]] = []
        #: Texts by record and address: the text after a pass is the text before the next pass.
        self.read = lru_cache(maxsize=4)(self._read)

    def _read(self, record: int, address: str) -> bytes:
        self._send(_Message("read", address, record=record))
        return self._pipe.recv_bytes()

    def prepare(self, query: Query, request: Request) -> None:
        self._send(_Message("prepare", query.name, request=request))

    def ask(self, request: Request, _check: Check = do_nothing) -> Record:
        # A saved page has several answers that need the same answer of the compiler.
        known = next((record for asked, record in self._asked if asked == request), None)
        if known is None:
            known = self._record_of(_Message("ask", request=request))
            self._asked.append((request, known))
        return known

    def complete(self, request: Request, _check: Check = do_nothing) -> Record:
        return self._record_of(_Message("complete", request=request))

    def cached(self, query: Query, parameters: Mapping[str, str]) -> bytes | None:
        self._send(_Message("cached", query.name, parameters=dict(parameters)))
        reply = _decode(self._pipe.recv_bytes())
        if reply.kind == "refused":
            raise ResultTooLarge(reply.detail)
        return self._pipe.recv_bytes() if reply.kind == "found" else None

    def found(self, query: Query, parameters: Mapping[str, str], answer: bytes) -> None:
        self._send(_Message("found", query.name, parameters=dict(parameters)))
        self._pipe.send_bytes(answer)

    def unanswered(self) -> None:
        self._send(_Message("unanswered"))

    def _record_of(self, message: _Message) -> Record:
        self._send(message)
        record: Record = self._pipe.recv()
        index, self._records = self._records, self._records + 1
        return replace(record, read=partial(self.read, index))

    def _send(self, message: _Message) -> None:
        self._pipe.send_bytes(_encode(message))


def _work(
    pipe: Connection,
    limits: Limits,
    name: str,
    records: tuple[Record | None, ...],
    parameters: Mapping[str, str],
) -> None:
    confine_process(limits)
    parent = _Parent(pipe, len(records))
    readable = tuple(
        None if record is None else replace(record, read=partial(parent.read, index))
        for index, record in enumerate(records)
    )

    def answer(query: Query, parameters: Mapping[str, str]) -> bytes:
        known = parent.cached(query, parameters)
        if known is None:
            try:
                known = _answer(query, replace(subject, parameters=parameters), limits)
            except BaseException:
                parent.unanswered()
                raise
            parent.found(query, parameters, known)
        return known

    subject = Subject(readable, parameters, parent, answer, parent.prepare)

    def find() -> None:
        query = _query(name)
        parent.found(query, parameters, _answer(query, subject, limits))

    outcome = outcome_of(find, _TOO_MUCH, _TOO_DEEP)
    pipe.send_bytes(msgspec.json.encode(_Message(*outcome)))


def _answer(query: Query, subject: Subject, limits: Limits) -> bytes:
    try:
        found = query.find(subject)
    except MemoryError as error:
        raise ResultTooLarge(_TOO_MUCH) from error
    except RecursionError as error:
        raise NotAnswerable(_TOO_DEEP) from error
    if isinstance(found, bytes):
        answer = found
    elif query.document == "text/plain":
        answer = found.encode("utf-8", errors="replace")
    else:
        answer = msgspec.json.encode(found)
    if len(answer) > limits.document_bytes:
        raise ResultTooLarge(
            f"The answer has more than {limits.document_bytes:,} bytes. Query a smaller kernel."
        )
    return answer
