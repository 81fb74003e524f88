"""Runs of the compiled kernel: correctness and speed."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="run",
    title="Run",
    summary="Run the kernel: its result against a reference, its times, what it moves and computes.",
)
