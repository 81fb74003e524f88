"""`toolchain`: add, list and remove Triton versions."""

from __future__ import annotations

import argparse
import sys

from explorer import tritons
from explorer.cli.tools import Commands, add_command, add_group, print_json
from explorer.errors import ToolchainError
from explorer.sandbox.versions import installed_versions
from explorer.settings import Settings


def add(commands: Commands) -> None:
    parts = add_group(commands, "toolchain", "add, list or remove Triton versions")
    adding = add_command(parts, "add", run_add, "install Triton versions; installed versions stay")
    adding.add_argument("versions", nargs="+", metavar="VERSION", help="such as 3.8.0")
    listing = add_command(parts, "list", run_list, "list the Triton versions, with their folders")
    listing.add_argument("--json", action="store_true", help="print the list as JSON")
    removing = add_command(parts, "remove", run_remove, "remove Triton versions")
    removing.add_argument("versions", nargs="+", metavar="VERSION")


def run_add(options: argparse.Namespace) -> int:
    """Install versions. Failures are reported; the status is 1 if there are any."""
    tritons_dir = Settings.from_environment().tritons_dir
    status = 0
    for version in options.versions:
        try:
            found = tritons.add(version, tritons_dir)
        except ToolchainError as error:
            print(f"triton-explorer: {error.line}", file=sys.stderr)
            status = 1
        else:
            print(f"Triton {found.version} is in {found.folder or sys.prefix}.")
    return status


def run_list(options: argparse.Namespace) -> int:
    """Print one line for each version."""
    installed = installed_versions(Settings.from_environment().tritons_dir)
    if options.json:
        print_json([{"version": each, "folder": str(installed[each] or sys.prefix)} for each in installed])
        return 0
    for version, folder in installed.items():
        print(f"{version:10} {folder or f'{sys.prefix} (the Python environment)'}")
    for version in tritons.SUPPORTED:
        if version not in installed:
            print(f"{version:10} not installed: triton-explorer toolchain add {version}")
    return 0


def run_remove(options: argparse.Namespace) -> int:
    tritons_dir = Settings.from_environment().tritons_dir
    for version in options.versions:
        print(f"Removed {tritons.remove(version, tritons_dir)}.")
    return 0
