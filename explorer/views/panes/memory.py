"""Shared memory, and tensor memory on targets that have it."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="memory",
    title="Memory",
    summary="Addresses and live ranges of the buffers in shared memory; barriers and what they protect.",
)
