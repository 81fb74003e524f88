"""Gluon's first stage, which replaces TTIR: TTGIR as the source specifies it, before any pass."""

from explorer.pipeline.stages.mlir import FUNCTION, read_stage
from explorer.pipeline.stages.stage import StageKind

STAGE = StageKind(
    name="glir",
    title="Gluon IR",
    summary="chosen layouts",
    language="glir",
    produced_by="glir",
    read=read_stage,
    kernel=FUNCTION,
    backends=(),
)
