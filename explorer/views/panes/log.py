"""The remarks, warnings and output of a compilation."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="log",
    title="Log",
    summary="Remarks, warnings and the output of tools and of the script.",
)
