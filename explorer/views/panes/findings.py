"""The findings: what costs speed in the kernel, with evidence, cause and advice."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="findings",
    title="Findings",
    summary="What costs speed in this kernel, why, and what changes it. The most costly finding comes first.",
)
