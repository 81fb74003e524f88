"""The stages of lowering: one file each, one line each in `STAGES`, in the order of the page."""

from __future__ import annotations

from explorer.pipeline.stages import amdgcn, ast, glir, llir, ptx, sass, ttgir, ttir
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

__all__ = ["STAGES", "Artifact", "StageKind", "StageText", "stage_produced_by", "stages_of"]

STAGES: tuple[StageKind, ...] = (
    ast.STAGE,
    ttir.STAGE,
    glir.STAGE,
    ttgir.STAGE,
    llir.STAGE,
    ptx.STAGE,
    sass.STAGE,
    amdgcn.STAGE,
)


def stage_produced_by(step: str) -> StageKind | None:
    """Return the stage that is read from the artifact of Triton's compile step `step`, or None."""
    return next((kind for kind in STAGES if kind.produced_by == step), None)


def stages_of(backend: str) -> tuple[str, ...]:
    """Return the names of the stages that lead to a binary of that Triton backend, in order."""
    return tuple(kind.name for kind in STAGES if backend in kind.backends)
