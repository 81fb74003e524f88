"""The schedule of pipelined loops."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="schedule",
    title="Schedule",
    summary="Pipelined loops: the stage of each iteration in each turn; why a loop is not pipelined.",
)
