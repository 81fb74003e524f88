"""The text of a stage of the lowering."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="stage",
    title="Stage",
    summary="The text of one stage, every line linked to its source line.",
    per_stage=True,
)
