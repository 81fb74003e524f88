"""The language of the module after a compiler pass."""

from __future__ import annotations

from explorer.model.languages import LANGUAGES
from explorer.store import Record


def pass_language(record: Record, index: int) -> str:
    """Return the language of the snapshot after a pass.

    Triton's passes work on MLIR, at the end on its LLVM dialect. LLVM's passes work on LLVM IR.

    Raises:
        NotFound: there is no such pass, or not yet.
    """
    stage = record.compiler_pass(index).stage
    if record.request.task == "llvm-passes":
        return "llir"
    return stage if stage != "llir" and stage in LANGUAGES else "mlir-llvm"
