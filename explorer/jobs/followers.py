"""Who follows a job: those who have submitted it, and those who read its event stream."""

from __future__ import annotations

import threading


class Followers:
    """The followers of one job, by name."""

    def __init__(self) -> None:
        #: How many event streams each follower reads.
        self._followers: dict[str, int] = {}
        self._changing = threading.Lock()

    def join(self, follower: str) -> None:
        """Add a follower, who stays one until it leaves, or ends the last of its event streams."""
        with self._changing:
            self._followers.setdefault(follower, 0)

    def leave(self, follower: str) -> int:
        """Remove a follower and return how many there are left."""
        with self._changing:
            self._followers.pop(follower, None)
            return len(self._followers)

    def begin_stream(self, follower: str) -> None:
        """Note that a follower begins to read an event stream."""
        with self._changing:
            self._followers[follower] = self._followers.get(follower, 0) + 1

    def end_stream(self, follower: str) -> None:
        """Note that a follower has ended an event stream."""
        with self._changing:
            streams = self._followers.get(follower, 0)
            if streams > 1:
                self._followers[follower] = streams - 1
            else:
                self._followers.pop(follower, None)
