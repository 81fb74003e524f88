"""The processor priority of jobs: a further job of a client yields to the jobs of other clients.

In: the flag of the thread that starts a job. Out: a lower priority of the processes of the job.
"""

from __future__ import annotations

import os
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

#: Whether the jobs that this thread starts yield the processor to others.
yields: ContextVar[bool] = ContextVar("yields", default=False)
#: A process with this niceness gets a tenth of the time of an ordinary one, where both need the processor.
_NICENESS = 10


def lower_priority(handle: int) -> None:
    """Lower the priority of a job, as far as the system permits it. `handle` is the warden's process handle.

    The worker is a separate session. Where the kernel divides the processor between sessions (autogroup),
    the niceness of a session decides.
    """
    with suppress(OSError, ValueError):
        fields = dict(
            line.split(":", 1) for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
        )
        warden = int(fields["Pid"])
        niceness = os.getpriority(os.PRIO_PROCESS, 0) + _NICENESS
        # A worker that is forked later inherits the priority.
        os.setpriority(os.PRIO_PROCESS, warden, niceness)
        for worker in map(int, Path(f"/proc/{warden}/task/{warden}/children").read_text().split()):
            os.setpriority(os.PRIO_PROCESS, worker, niceness)
            with suppress(OSError):
                Path(f"/proc/{worker}/autogroup").write_text(str(_NICENESS))
