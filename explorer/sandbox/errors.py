"""The errors of the wall.

    ExplorerError
    ├── ProtocolError     the jail wrote something that is not a valid event
    └── SlotBroken        a jail did not start or stopped responding

Neither error leaves this package. Users see a diagnostic, or `QueueFull`, `SandboxUnavailable` or
`UnknownTriton`
of `explorer.errors` if no job could be executed.
"""

from explorer.errors import ExplorerError


class ProtocolError(ExplorerError):
    """A line from the jail is malformed, too long, or exceeds the number of lines."""


class SlotBroken(ExplorerError):
    """A jail failed, as far as known for a reason other than its job."""
