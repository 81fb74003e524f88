"""Shared memory, and tensor memory where there is some."""

from __future__ import annotations

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="memory",
    title="Memory",
    summary="Where each buffer lies in shared memory and when, barriers and what they protect.",
)
