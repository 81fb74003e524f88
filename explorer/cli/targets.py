"""`targets`: list the GPUs to compile for."""

from __future__ import annotations

import argparse

from explorer.cli.tools import Commands, add_command
from explorer.model.hardware import TARGETS
from explorer.pipeline.stages import stages_of


def add(commands: Commands) -> None:
    add_command(commands, "targets", run, "list the GPUs to compile for")


def run(_options: argparse.Namespace) -> int:
    """Print one line for each target."""
    for target in TARGETS:
        stages = " → ".join(stages_of(target.backend))
        print(f"{target.name:12} {target.architecture:8} {target.title:24} {stages}")
    return 0
