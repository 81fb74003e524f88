"""`settings`: print the table of all settings."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from explorer.cli.tools import Commands, add_command
from explorer.settings import PREFIX, Settings


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    add_command(commands, "settings", run, "list the settings as a Markdown table")


def run(_options: argparse.Namespace) -> int:
    """Print the table."""
    print(settings_table(), end="")
    return 0


def settings_table() -> str:
    """Return all settings as a Markdown table, as in the README."""
    head = ["| Variable | Default | What it sets |", "|---|---|---|"]
    rows = [
        f"| `{PREFIX}{item.name.upper()}` | {_shown_default(item)} | {item.metadata['description']} |"
        for item in dataclasses.fields(Settings)
    ]
    return "\n".join([*head, *rows]) + "\n"


def _shown_default(item: dataclasses.Field[Any]) -> str:
    """Return the default, in words if it depends on the machine."""
    if item.name == "slots":
        return "processors, at most 8"
    if item.name == "tritons_dir":
        return "`tritons` in the virtual environment"
    if item.name == "packages_dir":
        return "`packages` in the virtual environment"
    if item.name == "recordings_dir":
        return "those that come with it"
    if "most" in item.metadata:
        return f"`{item.metadata['most']}`, [locally](docs/serving.md#limits-in-a-minute) none"
    if isinstance(item.default, bool):
        return f"`{int(item.default)}`"
    return f"`{item.default}`" if item.default != "" else "empty"
