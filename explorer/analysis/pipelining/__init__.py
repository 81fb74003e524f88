"""Software pipelines: which stage an operation of a loop belongs to, from the compiler's attributes."""

from explorer.analysis.pipelining.schedule import Loop, ScheduledOperation, read_loops

__all__ = ["Loop", "ScheduledOperation", "read_loops"]
