"""The resources that the binary needs."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="resources",
    title="Resources",
    summary="Registers, shared memory, occupancy and what limits it, waves of the grid, instruction mix.",
)
