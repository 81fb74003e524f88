"""The queue of jobs, and the sandboxes and GPUs that execute them.

`protocol` declares the interface. `local` implements it in one process, `distributed` with workers
(`consumer`) on any machine. The work of a job is in `pipeline` and `runner`, behind the wall.
"""

from explorer.jobs.event_log import EventLog
from explorer.jobs.local import LocalQueue
from explorer.jobs.metrics import Metrics
from explorer.jobs.protocol import Queue
from explorer.jobs.runners import RunnerKind, Runners, SandboxRunner
from explorer.jobs.shared_queue import QueueLimits

__all__ = [
    "EventLog",
    "LocalQueue",
    "Metrics",
    "Queue",
    "QueueLimits",
    "RunnerKind",
    "Runners",
    "SandboxRunner",
]
