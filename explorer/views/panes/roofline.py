"""The roofline of a run: the distance to the limits of the GPU."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="roofline",
    title="Roofline",
    summary="How far a run is from the limits of the GPU, what holds it back, and where its time goes.",
)
