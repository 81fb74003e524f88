"""The compiler passes, and their changes."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="passes",
    title="Passes",
    summary="What each compiler pass changed, and its duration.",
)
