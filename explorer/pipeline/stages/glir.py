"""Gluon's own first stage, in the place of TTIR: TTGIR as the source says it, before any pass."""

from __future__ import annotations

from explorer.pipeline.stages.mlir import read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(
    name="glir", title="Gluon IR", language="glir", produced_by="glir", read=read_stage, backends=()
)
