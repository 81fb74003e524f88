"""The stages of the lowering: one file each, one line each in `STAGES`, in the order of the page."""

from __future__ import annotations

from explorer.pipeline.stages import amdgcn, ast, glir, llir, ptx, sass, ttgir, ttir
from explorer.pipeline.stages.stage import Artifact, StageKind, StageText

__all__ = ["STAGES", "Artifact", "StageKind", "StageText", "find_stage"]

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


def find_stage(name: str) -> StageKind:
    """Return the stage called `name`.

    Raises:
        KeyError: there is none.
    """
    for stage in STAGES:
        if stage.name == name:
            return stage
    raise KeyError(name)
