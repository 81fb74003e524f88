"""The schedule of pipelined loops."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="schedule",
    title="Schedule",
    summary="Pipelined loops: the stage of each iteration in each turn; why a loop is not pipelined.",
)
