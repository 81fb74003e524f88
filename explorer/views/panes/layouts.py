"""The layouts of tensors in registers and memory, and the accesses to memory."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="layouts",
    title="Layouts",
    summary="Which thread holds which element; bank conflicts, conversions, width of loads and stores.",
)
