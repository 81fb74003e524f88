"""The phases of mbarriers, and the partitions that wait for them."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="barrier_phases",
    title="Barrier phases",
    summary="The phases of mbarriers in steps, and what warp-specialized partitions do and wait for.",
)
