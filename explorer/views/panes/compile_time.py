"""The compile time and the code size, and their cause."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="compile_time",
    title="Compilation",
    summary="Time by pass, instructions by source line, elements per thread, and why the code is long.",
)
