"""The description of a pane, which the browser reads from `/page.json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pane:
    """A kind of pane.

    `summary` says what it shows. `per_stage`: there is one for each stage, and its state is the stage's name.
    """

    name: str
    title: str
    summary: str
    per_stage: bool = False
