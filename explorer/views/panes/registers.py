"""Registers along the machine code, and the tensors that need them."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="registers",
    title="Registers",
    summary="Live registers along the machine code, and the tensors of TTGIR that need them.",
)
