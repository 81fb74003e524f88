"""Mbarriers: their phases, and the partitions that wait for them, in an execution of one program."""

from explorer.analysis.mbarriers.execution import Execution, execute
from explorer.analysis.mbarriers.machine import Barrier, Finding, InFlight, Span, State, Thread
from explorer.analysis.mbarriers.values import NotEvaluated

__all__ = [
    "Barrier",
    "Execution",
    "Finding",
    "InFlight",
    "NotEvaluated",
    "Span",
    "State",
    "Thread",
    "execute",
]
