"""Compiler queries: questions about an artifact of a compilation that only the compiler's own tools can
answer.

A compiler query is one file here with a function that computes its answer, the type of the answer in
`explorer.model.answers`, and one line in `COMPILER_QUERIES`. It runs in the jail, on request of a query of
`explorer.queries`. The functions raise `UserError` if the tools have no answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from explorer.model import Request
from explorer.model.hardware import Target
from explorer.pipeline.compiler_queries import layouts, registers

COMPILER_QUERIES: dict[str, Callable[[Request, Target], Any]] = {
    "registers": registers.live_registers,
    "layouts": layouts.layouts,
}
