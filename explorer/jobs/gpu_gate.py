"""The permission to run kernels on GPUs, and the time limit for each day."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from explorer.errors import Forbidden, QuotaUsed, StoreError
from explorer.jobs.caller import ADMIN_ROLE, GPU_ROLE, Caller
from explorer.store.gpu_time import GpuTime

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class GpuRules:
    """The rules for GPUs: whether a role is needed, and the time of a client on a day; 0: no limit."""

    needs_role: bool = False
    day_seconds: float = 0.0


NO_RULES = GpuRules()


class GpuGate:
    """Checks the rules. Work of the server itself, for the client "", is always allowed."""

    def __init__(self, rules: GpuRules, gpu_time: GpuTime) -> None:
        self._rules = rules
        self._time = gpu_time

    def refusal(self, caller: Caller) -> str:
        """Return why a caller may not use GPUs at all; "" if it may."""
        if not self._rules.needs_role or not caller.client or {GPU_ROLE, ADMIN_ROLE} & caller.roles:
            return ""
        return (
            "Other machines can reach this server, so runs on its GPUs need an account with the role gpu. "
            "Use the interpreter, or ask the server administrator for that account or an API token. "
            "TRITON_EXPLORER_GPU_RUNS=all lets everybody use the GPUs."
        )

    def admit(self, caller: Caller) -> None:
        """Check that a caller may use a GPU now.

        Raises:
            Forbidden: the caller has no role that permits the use of GPUs.
            QuotaUsed: the client has used its GPU time of this day.
            StoreError: the used GPU time is unknown.
        """
        if reason := self.refusal(caller):
            raise Forbidden(reason)
        quota = self._rules.day_seconds
        if quota and caller.client and (taken := self._time.seconds(caller.client)) >= quota:
            raise QuotaUsed(
                f"Your runs have taken {taken:,.0f} seconds on GPUs today (UTC); the limit is {quota:,.0f}. "
                "Use the interpreter, or try again tomorrow."
            )

    @contextmanager
    def counted(self, caller: Caller) -> Iterator[None]:
        """Count the time of a block as time of a caller on a GPU.

        Raises:
            Forbidden, QuotaUsed: as `admit`; jobs that waited at the same time may have used up the time.
        """
        self.admit(caller)
        began = time.monotonic()
        try:
            yield
        finally:
            if self._rules.day_seconds and caller.client:
                try:
                    self._time.add(caller.client, time.monotonic() - began)
                except StoreError as error:
                    _log.error("Time on a GPU is not counted: %s", error.detail)
