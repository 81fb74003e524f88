"""The phases of mbarriers, and the partitions that wait for them."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="barrier_phases",
    title="Barrier phases",
    summary="mbarriers and warp-specialized partitions in steps: phases, waits, copies and products under way.",
)
