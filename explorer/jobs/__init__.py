"""The queue between those who ask and the sandbox that compiles."""

from explorer.jobs.job import Job
from explorer.jobs.metrics import Metrics
from explorer.jobs.queue import Queue

__all__ = ["Job", "Metrics", "Queue"]
