"""Mbarriers: their phases, and the partitions that wait for them, in an execution of one program."""

from explorer.analysis.mbarriers.execution import AssumedValue, Execution, execute
from explorer.analysis.mbarriers.machine import (
    Barrier,
    BarrierState,
    Finding,
    OperationInFlight,
    ThreadSpan,
)
from explorer.analysis.mbarriers.values import NotEvaluated

__all__ = [
    "AssumedValue",
    "Barrier",
    "BarrierState",
    "Execution",
    "Finding",
    "NotEvaluated",
    "OperationInFlight",
    "ThreadSpan",
    "execute",
]
