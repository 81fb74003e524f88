"""What the pipeline raises when the user's input, not the pipeline, is at fault.

UserError       carries the Diagnostic to show
"""

from __future__ import annotations

from explorer.model import Diagnostic


class UserError(Exception):
    """Something in the request is wrong; `diagnostic` says what, where and what to do."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def user_error(message: str, line: int = 0, hint: str = "") -> UserError:
    """An error of the user's at a line of the source (0: at none)."""
    return UserError(Diagnostic("error", message, line=line, hint=hint))
