"""`settings`: print the table of all settings."""

from __future__ import annotations

import argparse

from explorer.cli.tools import Commands, add_command
from explorer.settings import settings_table


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    add_command(commands, "settings", run, "list the settings as a Markdown table")


def run(_options: argparse.Namespace) -> int:
    """Print the table."""
    print(settings_table(), end="")
    return 0
