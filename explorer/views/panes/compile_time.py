"""The compile time and the code size, and their cause."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="compile_time",
    title="Compilation",
    summary="Time by pass, instructions by source line, elements per thread, and why the code is long.",
)
