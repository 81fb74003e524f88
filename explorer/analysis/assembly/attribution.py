"""Whether an instruction can come from the operation that its line information names.

LLVM may give an instruction that it has merged, vectorized or moved the location of a neighbor. Arithmetic
then has the location of a load or a store, or an access that of arithmetic. Spills and loads of the arguments
of a kernel may belong to any operation.
"""

from __future__ import annotations

from explorer.analysis.assembly.instruction_mix import purpose_of
from explorer.analysis.layouts.global_access import is_global_access

_ARITHMETIC = ("tensor", "fp32", "fp16", "fp64", "special function")
_ACCESSES = ("global", "shared", "global to shared", "shared to global")
_LOCAL_ACCESSES = ("ttg.local_load", "ttg.local_store", "ttg.async_copy_local_to_global")
_WITHOUT_ACCESS = (
    *("arith.", "math.", "tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims"),
    *("tt.make_range", "tt.get_program_id", "tt.get_num_programs"),
)


def contradiction(instruction: str, language: str, operation: str) -> str:
    """Return why an instruction cannot come from an operation, by the name of the latter; "" if it can."""
    purpose = purpose_of(instruction, language)
    if purpose.kind in _ARITHMETIC and _only_moves(operation):
        return "does no arithmetic"
    if purpose.kind == "memory" and purpose.space in _ACCESSES and operation.startswith(_WITHOUT_ACCESS):
        return "accesses no memory"
    return ""


def is_access_of(instruction: str, language: str, operation: str) -> bool:
    """Return whether an instruction loads, stores or changes global memory, as an operation does."""
    purpose = purpose_of(instruction, language)
    is_global = (purpose.kind, purpose.space) == ("memory", "global")
    return is_global and is_global_access(operation) and purpose.direction in operation


def _only_moves(operation: str) -> bool:
    return operation in _LOCAL_ACCESSES or (is_global_access(operation) and "atomic" not in operation)
