"""Answers what is asked about compilations: from the store, or by finding it out once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import msgspec

from explorer.analyses.analysis import Analysis, Subject
from explorer.analyses.apart import Finders
from explorer.errors import InvalidRequest, Unavailable
from explorer.jobs import Queue
from explorer.store import Record, Store

_MOST_DIGITS = 9


class Analyst:
    """Finds things out about compilations. Safe to use from many threads.

    `threads` may wait for it at the same time, so that others are left for those who only look.
    """

    def __init__(self, store: Store, queue: Queue, *, threads: int = 16, processes: int = 2) -> None:
        self._store = store
        self._queue = queue
        self._finders = Finders()
        self._waiting = threading.BoundedSemaphore(threads)
        self._computing = threading.BoundedSemaphore(processes)
        self._changed = threading.Condition()
        self._busy: set[tuple[str, str]] = set()

    def warm_up(self) -> None:
        """Be ready for the first question."""
        self._finders.warm_up()

    def close(self) -> None:
        """End what is being found out."""
        self._finders.close()

    def answer(self, analysis: Analysis, record: Record, parameters: Mapping[str, str]) -> bytes:
        """Return the document as JSON.

        Raises:
            InvalidRequest: a parameter that the analysis does not have.
            NotAnswerable: there is nothing to be found out; the message says why.
            Unavailable: too many wait already.
        """
        parameters = _checked(analysis, parameters)
        key = _key(analysis, parameters)
        stored = self._store.finding(record, key)
        if stored is not None:
            return stored
        if not self._waiting.acquire(blocking=False):
            raise Unavailable("Too much is being found out at the moment. Try again in a few seconds.")
        try:
            with self._one_at_a_time(record.id, key):
                stored = self._store.finding(record, key)
                if stored is not None:
                    return stored
                document = self._find(analysis, Subject(record, parameters, self._queue))
                self._store.keep_finding(record, key, document)
                return document
        finally:
            self._waiting.release()

    def _find(self, analysis: Analysis, subject: Subject) -> bytes:
        if analysis.is_bounded:
            return msgspec.json.encode(analysis.find(subject))
        with self._computing:
            return self._finders.find(analysis, subject)

    def known(self, analysis: Analysis, record: Record, parameters: Mapping[str, str]) -> bytes | None:
        """The document if somebody has asked for it before."""
        return self._store.finding(record, _key(analysis, parameters))

    @contextmanager
    def _one_at_a_time(self, compilation_id: str, key: str) -> Iterator[None]:
        """Whoever asks the same at the same time waits for the first one's answer."""
        mine = (compilation_id, key)
        with self._changed:
            self._changed.wait_for(lambda: mine not in self._busy)
            self._busy.add(mine)
        try:
            yield
        finally:
            with self._changed:
                self._busy.discard(mine)
                self._changed.notify_all()


def _checked(analysis: Analysis, parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters, numbers in the one way to write them: each question is asked and kept once.

    Raises:
        InvalidRequest: one that the analysis does not have, or that is no number and should be.
    """
    known = {parameter.name: parameter for parameter in analysis.parameters}
    checked = {}
    for name, text in sorted(parameters.items()):
        if name not in known:
            takes = ", ".join(sorted(known)) or "none"
            raise InvalidRequest(f"{analysis.name} has no parameter {name[:50]!r}. It has: {takes}.")
        if known[name].type is int:
            if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
                raise InvalidRequest(f"{name!r} must be a whole number, got {text[:50]!r}.")
            text = str(int(text))
        if known[name].type is bool and text not in ("0", "1"):
            raise InvalidRequest(f"{name!r} must be 0 or 1, got {text[:50]!r}.")
        checked[name] = text
    return checked


def _key(analysis: Analysis, parameters: Mapping[str, str]) -> str:
    return msgspec.json.encode([analysis.name, analysis.version, sorted(parameters.items())]).decode()
