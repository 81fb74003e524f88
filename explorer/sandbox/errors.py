"""What goes wrong at the wall itself.

    ExplorerError
    ├── ProtocolError     what came out of the jail is not what a pipeline says
    └── SlotBroken        a jail did not start, or does not answer any more

Neither leaves this package: users see a diagnostic, and `QueueFull`, `SandboxUnavailable` or
`UnknownTriton` of `explorer.errors` where nothing could be run.
"""

from __future__ import annotations

from explorer.errors import ExplorerError


class ProtocolError(ExplorerError):
    """A line from the jail is malformed, too long, or one too many."""


class SlotBroken(ExplorerError):
    """A jail failed on its own account, not by the job's doing as far as one can tell."""
