"""Triton IR: tensors without layouts, after inlining and cleanup."""

from explorer.pipeline.stages.mlir import FUNCTION, read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(
    name="ttir",
    title="TTIR",
    summary="whole tensors",
    language="ttir",
    produced_by="ttir",
    read=read_stage,
    kernel=FUNCTION,
)
