"""The error that the pipeline raises for a mistake in the user's input.

UserError       carries the Diagnostic to show
"""

from __future__ import annotations

from explorer.model import Diagnostic


class UserError(Exception):
    """The request or its source is wrong. `diagnostic` describes the error, its place, and the remedy."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def user_error(message: str, line: int = 0, hint: str = "") -> UserError:
    """Return a `UserError` at a line of the source (0: no line)."""
    return UserError(Diagnostic("error", message, line=line, hint=hint))


class NeedsValue(BaseException):
    """The program needs a value that is not known here, for example a result of a kernel.

    Not an `Exception`, so that the user's own `except Exception` does not catch it. `stops_launch`: a launch
    needs the value.
    """

    stops_launch = False

    def __init__(self, what: str) -> None:
        super().__init__(what)
