"""The resources that the binary needs."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="resources",
    title="Resources",
    summary="Registers, shared memory, occupancy and what limits it, waves of the grid, instruction mix.",
)
