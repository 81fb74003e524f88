"""Triton GPU IR: every tensor with the layout that distributes it over threads and registers."""

from explorer.pipeline.stages.mlir import FUNCTION, read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(
    name="ttgir",
    title="TTGIR",
    summary="tensor layouts",
    language="ttgir",
    produced_by="ttgir",
    read=read_stage,
    kernel=FUNCTION,
)
