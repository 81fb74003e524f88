"""Triton IR: tensors without layouts, after inlining and clean-up."""

from __future__ import annotations

from explorer.pipeline.stages.mlir import read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(name="ttir", title="TTIR", language="ttir", produced_by="ttir", read=read_stage)
