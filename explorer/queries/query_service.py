"""Answers queries about stored results: from the cache in the store, or by computing the answer once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Protocol

import msgspec

from explorer.errors import InvalidRequest, ResultTooLarge
from explorer.jobs.caller import current_caller, work_for
from explorer.jobs.fairness import Places, Turns
from explorer.jobs.isolated_process import POLL_SECONDS, Awaited, abandoned
from explorer.jobs.rates import Rates
from explorer.queries.isolated_worker import Cached, Found, IsolatedWorkers, LimitExceeded
from explorer.queries.query import Compiler, Query, Subject
from explorer.store import Record, Store

_MOST_DIGITS = 9
#: The size of the further answers that are written to the store at once.
_MOST_PENDING_BYTES = 32 << 20
#: The number of answers that are looked up one by one before all stored answers are loaded.
_MOST_LOOKUPS = 8
#: The seconds for which a query that exceeded a limit is refused, and the number of remembered queries.
_REFUSAL_SECONDS = 600.0
_MOST_REFUSALS = 1_000
#: The number of other answers that an answer can lack because they exceed a limit.
_MOST_REFUSED_ANSWERS = 3


class Workers(Protocol):
    """Computes answers; see `IsolatedWorkers`."""

    def warm_up(self) -> None: ...

    def close(self) -> None: ...

    def find(
        self, query: Query, subject: Subject, cached: Cached, is_awaited: Awaited = ...
    ) -> Iterator[Found]: ...


class _Place:
    """A place of a client, taken when it is first needed, once for all threads that share it."""

    def __init__(self, places: Places, client: str) -> None:
        self._places = places
        self._client = client
        self._taking = threading.Lock()
        self._is_taken = False

    def take(self) -> None:
        """Take the place.

        Raises:
            TooManyRequests, QueueFull: as `Places.take`.
        """
        with self._taking:
            if not self._is_taken:
                self._places.take(self._client)
                self._is_taken = True

    def close(self) -> None:
        """Give the place back."""
        if self._is_taken:
            self._places.give_back(self._client)


class _StoredAnswers:
    """The stored answers about a record: looked up one by one, and from a certain number on all at once."""

    def __init__(self, store: Store, record: Record) -> None:
        self._store = store
        self._record = record
        self._lookups = 0
        self._read: Callable[[str], bytes | None] | None = None

    def find(self, key: str) -> bytes | None:
        """Return the answer, or None."""
        self._lookups += 1
        if self._lookups <= _MOST_LOOKUPS:
            return self._store.answers.find(self._record, key)
        self._read = self._read or self._store.answers.reader(self._record)
        return self._read(key)


class QueryService:
    """Answers queries. Safe to use from many threads.

    At most `threads` threads may wait for an answer at the same time, so that the server has threads left for
    other requests. At most `processes` answers are computed at the same time, and one more for a client that
    would wait although none of its answers is computed. Clients share the threads and take turns with the
    processes. `rates` limits the computed answers of each client over time.
    """

    def __init__(
        self,
        store: Store,
        compiler: Compiler,
        workers: Workers | None = None,
        *,
        threads: int = 16,
        processes: int = 2,
        rates: Rates | None = None,
    ) -> None:
        self._store = store
        self._compiler = compiler
        self._workers = workers or IsolatedWorkers()
        self._waiting = Places(threads, "queries")
        self._turns = Turns(processes, reserve=1)
        self._rates = rates or Rates({})
        self._changed = threading.Condition()
        self._busy: set[tuple[str, str]] = set()
        #: For each answer, whether its clients still wait.
        self._awaited: dict[tuple[str, str], list[Awaited]] = {}
        #: For each query that exceeded a limit, the message, and the time of the next permitted attempt.
        self._refusals: dict[tuple[str, str | None, str], tuple[str, float]] = {}

    def warm_up(self) -> None:
        """Start the processes that the first query would otherwise wait for."""
        self._workers.warm_up()

    def close(self) -> None:
        """Stop the computation of all answers."""
        self._workers.close()

    def answer(
        self,
        query: Query,
        records: Sequence[Record | None],
        parameters: Mapping[str, str],
        is_awaited: Awaited = lambda: True,
    ) -> bytes:
        """Return the answer: JSON, or a text or bytes if the query's document is one.

        `records` are the records that the query's kind demands; see `Kind`. An answer is cached if all of
        them are stored. It depends on each record: a result that replaces an earlier result has separate
        answers.
        The computation ends when `is_awaited` returns false for all clients that wait for the answer.

        Raises:
            InvalidRequest: the query does not have this parameter, or its value is of another type.
            NotAnswerable: the records have no answer; the message says why.
            QueueFull, TooManyRequests: too many threads are waiting, for all clients or for this client, or
            this client has exceeded its rate.
        """
        with closing(_Place(self._waiting, current_caller().client)) as place:
            return self._answer(query, records, parameters, is_awaited, place)

    def _answer(
        self,
        query: Query,
        records: Sequence[Record | None],
        parameters: Mapping[str, str],
        is_awaited: Awaited,
        place: _Place,
    ) -> bytes:
        parameters = _checked(query, parameters)
        key = _key(query, records, parameters)
        subject = Subject(tuple(records), parameters, self._compiler)
        is_cached = all(record is None or record.journal is not None for record in records)
        stored = self._known(subject.record, key) if is_cached else None
        if stored is not None:
            return stored
        place.take()
        with self._one_at_a_time(subject.record.id, key, is_awaited) as is_any_awaited:
            stored = self._known(subject.record, key) if is_cached else None
            if stored is not None:
                return stored

            self._rates.count("queries")

            def check() -> None:
                if not is_any_awaited():
                    raise abandoned()

            with self._turns.turn(current_caller(), check):
                return self._compute(query, subject, is_any_awaited, is_cached)

    def answers(self, queries: Sequence[Query], record: Record, is_awaited: Awaited) -> list[bytes]:
        """Return the answers to several queries about a compilation, computed at the same time.

        The queries share one place: one thread of the server waits for them.

        Raises:
            the exception of `answer` for the first query that fails; the other queries end then.
        """
        for query in queries:  # if one is refused, none begins
            self._check_not_refused(record, _key(query, (record,), _checked(query, {})))
        failures: list[BaseException] = []
        caller = current_caller()

        def answer(query: Query) -> bytes:
            work_for(caller)
            try:
                return self._answer(query, (record,), {}, lambda: is_awaited() and not failures, place)
            except BaseException as error:
                failures.append(error)
                raise

        with (
            closing(_Place(self._waiting, caller.client)) as place,
            ThreadPoolExecutor(len(queries)) as threads,
        ):
            answers = [threads.submit(answer, query) for query in queries]
        if failures:
            raise failures[0]
        return [each.result() for each in answers]

    def cached(self, query: Query, record: Record, parameters: Mapping[str, str]) -> bytes | None:
        """Return the answer about a compilation if it is cached.

        Raises:
            InvalidRequest: as `answer`.
        """
        return self._store.answers.find(record, _key(query, (record,), _checked(query, parameters)))

    def _known(self, record: Record, key: str) -> bytes | None:
        """Return the cached answer, or None.

        Raises:
            ResultTooLarge: the query exceeded a limit a short time ago.
        """
        self._check_not_refused(record, key)
        return self._store.answers.find(record, key)

    def _check_not_refused(self, record: Record, key: str) -> None:
        detail, until = self._refusals.get((record.id, record.journal, key), ("", 0.0))
        if time.monotonic() < until:
            raise ResultTooLarge(detail)

    def _compute(self, query: Query, subject: Subject, is_awaited: Awaited, is_cached: bool) -> bytes:
        """Compute an answer. Store it, and the other answers that it used, also if it fails after them.

        If another answer that it uses exceeds the limit of time, the answer is computed again without the
        other answer. It is not stored then: the other answer is only refused for some minutes.
        """
        record = subject.record
        key = _key(query, subject.records, subject.parameters)
        refused: dict[str, str] = {}
        while True:
            try:
                return self._compute_once(query, subject, is_awaited, is_cached, refused)
            except LimitExceeded as error:
                exceeded = _key(error.query, subject.records, error.parameters)
                self._refuse(record, exceeded, error.detail)
                if exceeded == key or len(refused) >= _MOST_REFUSED_ANSWERS:
                    self._refuse(record, key, error.detail)
                    raise
                refused[exceeded] = error.detail

    def _compute_once(
        self, query: Query, subject: Subject, is_awaited: Awaited, is_cached: bool, refused: dict[str, str]
    ) -> bytes:
        """Compute an answer without the refused answers. Add the answers that were refused before to them.

        Answers that come after a refusal may lack the refused answer, and are not stored.
        """
        record = subject.record
        found: dict[str, bytes] = {}
        unstored: dict[str, bytes] = {}
        stored = _StoredAnswers(self._store, record)
        has_refused = False

        def cached(other: Query, parameters: Mapping[str, str]) -> bytes | None:
            nonlocal has_refused
            key = _key(other, subject.records, parameters)
            try:
                self._check_not_refused(record, key)
            except ResultTooLarge as error:
                refused[key] = error.detail
            if key in refused:
                has_refused = True
                raise ResultTooLarge(refused[key])
            return found.get(key) or unstored.get(key) or stored.find(key)

        document = b""
        try:
            for other, parameters, document in self._workers.find(query, subject, cached, is_awaited):
                answers = unstored if has_refused else found
                answers[_key(other, subject.records, parameters)] = document
                if sum(map(len, found.values())) > _MOST_PENDING_BYTES and is_cached:
                    self._store.answers.keep(record, found)
                    found.clear()
        finally:
            if found and is_cached:
                self._store.answers.keep(record, found)
        return document

    def _refuse(self, record: Record, key: str, detail: str) -> None:
        if record.journal is not None:
            with self._changed:
                if len(self._refusals) >= _MOST_REFUSALS:
                    self._refusals.clear()
                self._refusals[record.id, record.journal, key] = detail, time.monotonic() + _REFUSAL_SECONDS

    @contextmanager
    def _one_at_a_time(self, record_id: str, key: str, is_awaited: Awaited) -> Iterator[Awaited]:
        """Wait for another thread that computes the same answer.

        Yield a function that returns whether a client waits for the answer.
        """
        mine = (record_id, key)
        with self._changed:
            awaited = self._awaited.setdefault(mine, [])
            awaited.append(is_awaited)
        try:
            with self._changed:
                while not self._changed.wait_for(lambda: mine not in self._busy, POLL_SECONDS):
                    if not is_awaited():
                        raise abandoned()
                self._busy.add(mine)
            try:
                yield lambda: any(each() for each in tuple(awaited))
            finally:
                with self._changed:
                    self._busy.discard(mine)
                    self._changed.notify_all()
        finally:
            with self._changed:
                awaited.remove(is_awaited)
                if not awaited:
                    self._awaited.pop(mine, None)


def _checked(query: Query, parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters, with numbers in canonical form, so that equal queries have equal keys.

    Raises:
        InvalidRequest: a parameter is unknown, or its value is of another type.
    """
    known = {parameter.name: parameter for parameter in query.parameters}
    checked = {}
    for name, text in sorted(parameters.items()):
        if name not in known:
            takes = ", ".join(sorted(known)) or "none"
            raise InvalidRequest(f"{query.name} has no parameter {name[:50]!r}. It has: {takes}.")
        if known[name].type is int:
            if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
                raise InvalidRequest(f"{name!r} must be a whole number, got {text[:50]!r}.")
            text = str(int(text))
        if known[name].type is bool and text not in ("0", "1"):
            raise InvalidRequest(f"{name!r} must be 0 or 1, got {text[:50]!r}.")
        checked[name] = text
    return checked


def _key(query: Query, records: Sequence[Record | None], parameters: Mapping[str, str]) -> str:
    """Return the key that distinguishes an answer about the first record from the other answers about it."""
    key: list[object] = [query.name, query.version, sorted(parameters.items())]
    if len(records) > 1:
        key.append([None if each is None else (each.id, each.journal) for each in records[1:]])
    return msgspec.json.encode(key).decode()
