"""The document of an error."""

from __future__ import annotations

import msgspec

from explorer.errors import ExplorerError


class Problem(msgspec.Struct, frozen=True):
    """An error: a title, a kind for programs, and details: what happened and what to do.

    `request_id` is the ID of the request in the log of the server.
    """

    error: str
    kind: str
    detail: str
    request_id: str = ""

    @classmethod
    def of(cls, error: ExplorerError, request_id: str = "") -> Problem:
        return cls(error.title, error.kind, error.detail, request_id)
