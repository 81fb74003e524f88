"""The compiler passes, and what each one changed."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="passes",
    title="Passes",
    summary="What each compiler pass changed, and its duration.",
)
