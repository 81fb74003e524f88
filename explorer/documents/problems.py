"""The document of an error."""

from __future__ import annotations

import msgspec

from explorer.errors import ExplorerError


class Problem(msgspec.Struct, frozen=True):
    """An error: a title, a kind for programs, and details: what happened and what to do."""

    error: str
    kind: str
    detail: str

    @classmethod
    def of(cls, error: ExplorerError) -> Problem:
        return cls(error.title, error.kind, error.detail)
