"""`version`: print the version of triton-explorer."""

from __future__ import annotations

import argparse
import importlib.metadata

from explorer.cli.tools import Commands, add_command


def add(commands: Commands) -> None:
    add_command(commands, "version", run, "print the version")


def run(_options: argparse.Namespace) -> int:
    print(importlib.metadata.version("triton-explorer"))
    return 0
