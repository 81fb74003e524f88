"""Triton GPU IR: every tensor with the layout that spreads it over threads and registers."""

from __future__ import annotations

from explorer.pipeline.stages.mlir import read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(name="ttgir", title="TTGIR", language="ttgir", produced_by="ttgir", read=read_stage)
