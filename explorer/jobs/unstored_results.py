"""Jobs that have ended without a stored result."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

from explorer.model import Diagnostic, Done, Log
from explorer.store import FAILURE_SECONDS, Record


class UnstoredResults:
    """Failures of jobs that the database does not have, for some seconds. Safe to use from many threads.

    Either the failure could not be written, or no process does the job any more. Without this class, a client
    that polls the job would never see the failure: each request would start the job again.
    """

    def __init__(self) -> None:
        self._keeping = threading.Lock()
        self._kept: dict[str, tuple[float, Record]] = {}

    def note(self, record: Record) -> None:
        """Keep the failure from the entries of a job. Its texts are lost."""
        now = time.monotonic()
        said = [entry for entry in record.entries if isinstance(entry, Diagnostic | Log)]
        entries = (*said, Done("failed", 0.0, is_transient=True))
        failed = replace(record, status="failed", entries=entries)
        with self._keeping:
            later = {name: kept for name, kept in self._kept.items() if kept[0] > now}
            self._kept = {**later, record.id: (now + FAILURE_SECONDS, failed)}

    def find(self, record_id: str) -> Record | None:
        """Return the failure of a job, or None."""
        end, record = self._kept.get(record_id, (0.0, None))
        return record if time.monotonic() < end else None
