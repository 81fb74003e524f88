"""The description of a pane, which the browser reads from `/page.json`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pane:
    """A kind of pane.

    `summary` describes its content. `per_stage`: each stage has a pane, whose state is the stage's name.
    """

    name: str
    title: str
    summary: str
    per_stage: bool = False
