"""The answers of compiler queries: one file per query, with the type of its answer.

They cross the wall as JSON inside `explorer.model.Answer`. Frozen dataclasses over the standard library. The
functions that compute them are in `explorer.pipeline.compiler_queries`.
"""

from explorer.model.answers.layouts import (
    AxisInformation,
    Bases,
    Coordinates,
    Input,
    Layouts,
    LayoutValue,
    Memory,
    Operand,
    Operation,
    Padding,
    TensorLayout,
)
from explorer.model.answers.lineage import (
    Lineage,
    ModuleOrigins,
    Span,
    digest_of_module,
    is_counted,
    spans_of,
)
from explorer.model.answers.registers import LiveAt, LiveRegisters, Named

__all__ = [
    "AxisInformation",
    "Bases",
    "Coordinates",
    "Input",
    "LayoutValue",
    "Layouts",
    "Lineage",
    "LiveAt",
    "LiveRegisters",
    "Memory",
    "ModuleOrigins",
    "Named",
    "Operand",
    "Operation",
    "Padding",
    "Span",
    "TensorLayout",
    "digest_of_module",
    "is_counted",
    "spans_of",
]
