"""What the compiler's own tools can find out about something that a compilation has made.

A question is one file here, with the types of its answer and a function that makes it, and a line in
`QUESTIONS`. It is asked in the sandbox when somebody looks; `explorer.analyses` says which, and about what.
The functions raise `UserError` where there is nothing to be found out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.model import Request
from explorer.pipeline.questions import layouts, registers
from explorer.pipeline.targets import Target

QUESTIONS: dict[str, Callable[[Request, Target], Any]] = {
    "registers": registers.live_registers,
    "layouts": layouts.layouts,
}
