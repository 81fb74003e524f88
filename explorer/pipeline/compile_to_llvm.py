"""A compilation that ends with LLVM IR, for jobs that need only the lowering to LLVM IR.

In: a `Specialization`, a `Target`. Out: the events of a subclass; the events of the compilation are dropped.
"""

from __future__ import annotations

from collections.abc import Callable

from explorer.model import Edits, Event
from explorer.model.hardware import Target
from explorer.pipeline.compile import Compilation
from explorer.pipeline.lowering import Lowering, Make
from explorer.pipeline.specialize import Specialization

#: Triton's step from the last MLIR module that the page shows as a stage to LLVM IR.
TO_LLVM = "llir"


class CompilationToLlvm(Compilation):
    """Lowers a kernel to LLVM IR. `_emit_answer` emits the answer of the job."""

    def __init__(
        self,
        specialization: Specialization,
        target: Target,
        emit: Callable[[Event], None],
        edits: Edits | None = None,
    ) -> None:
        super().__init__(specialization, target, lambda _event: None, edits)
        self._emit_answer = emit
        #: Triton's steps, with those after LLVM IR.
        self._all_steps: dict[str, Make] = {}

    def _steps(self, lowering: Lowering) -> dict[str, Make]:
        self._all_steps = super()._steps(lowering)
        names = list(self._all_steps)
        return {name: self._all_steps[name] for name in names[: names.index(TO_LLVM) + 1]}
