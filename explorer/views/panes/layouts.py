"""How tensors lie in registers and memory, and how data moves between."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="layouts",
    title="Layouts",
    summary="Which thread holds which element; bank conflicts, conversions, the width of loads and stores.",
)
