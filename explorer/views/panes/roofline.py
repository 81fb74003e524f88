"""What a run has measured, and how far it is from the limits of the hardware."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="roofline",
    title="Roofline",
    summary="How far a run is from the limits of the GPU, what holds it back, and where its time goes.",
)
