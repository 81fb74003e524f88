"""The queue between those who ask and the sandboxes that compile and run."""

from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.queue import Queue
from explorer.jobs.runners import Runners, SandboxRunner

__all__ = ["Job", "Metrics", "Queue", "Runners", "SandboxRunner"]
