"""What the browser is told of a pane."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pane:
    """One kind of pane.

    `summary` says what it shows. `per_stage`: there is one for each stage, whose name is its state.
    """

    name: str
    title: str
    summary: str
    per_stage: bool = False
