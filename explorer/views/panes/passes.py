"""The passes that lead to a stage, and the difference each one made."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="passes",
    title="Passes",
    summary="What each compiler pass changed, and how long it took.",
)
