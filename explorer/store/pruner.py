"""Prunes a store in the background: at the start, when that frees space, and every few hours."""

from __future__ import annotations

import logging
import threading
import time

from explorer.errors import StoreError
from explorer.store.sql import Store

_PRUNE_SECONDS = 6 * 3600
#: How often the uses of results are stored.
_NOTE_SECONDS = 60
#: The pause after each pruning, at least and as a multiple of its duration.
_REST_SECONDS = 5
_RESTS = 4
_CLOSE_SECONDS = 10
_log = logging.getLogger(__name__)


class Pruner:
    """A thread that prunes a store until it is closed."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="pruner", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._is_closed.set()
        self._store.pruning_is_due.set()
        self._thread.join(_CLOSE_SECONDS)

    def _work(self) -> None:
        next_time = time.monotonic()
        while not self._is_closed.is_set():
            try:
                if self._store.pruning_is_due.is_set() or time.monotonic() >= next_time:
                    began = time.monotonic()
                    self._prune()
                    next_time = time.monotonic() + _PRUNE_SECONDS
                    # If pruning could not remove enough, the next attempt may fail too.
                    self._is_closed.wait(_REST_SECONDS + _RESTS * (time.monotonic() - began))
                else:
                    self._store.write_uses()
            except StoreError as error:
                _log.warning("The store was not pruned: %s", error.detail)
                self._is_closed.wait(_REST_SECONDS)
            except Exception:  # the thread must survive
                _log.exception("The store was not pruned because of an unexpected error")
                self._is_closed.wait(_NOTE_SECONDS)
            self._store.pruning_is_due.wait(_NOTE_SECONDS)

    def _prune(self) -> None:
        pruned = self._store.prune()
        if pruned.results or pruned.requests:
            _log.warning(
                "Removed %d results and %d requests that nobody has retained; the store takes %d MiB.",
                pruned.results,
                pruned.requests,
                pruned.bytes >> 20,
            )
