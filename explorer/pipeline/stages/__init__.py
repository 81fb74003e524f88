"""The stages of the lowering: one file each, one line each in `STAGES`, in the order of the page."""

from __future__ import annotations

from explorer.pipeline.stages import amdgcn, ast, glir, llir, ptx, sass, ttgir, ttir
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

__all__ = ["STAGES", "Artifact", "StageKind", "StageText", "stage_produced_by"]

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
    """Return the stage that is read from what Triton's compile step `step` makes; None if none is."""
    return next((kind for kind in STAGES if kind.produced_by == step), None)
