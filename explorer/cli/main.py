"""The command `triton-explorer`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from explorer.cli import (
    bisect,
    capture,
    check,
    debug,
    delete,
    explain,
    improve,
    inspect,
    matrix,
    mcp,
    profile,
    push,
    record,
    replay,
    serve,
    settings,
    store,
    targets,
    token,
    toolchain,
    tour,
    version,
    worker,
)
from explorer.cli import compile as compile_
from explorer.errors import ExplorerError

COMMANDS = (
    serve,
    worker,
    compile_,
    inspect,
    matrix,
    bisect,
    improve,
    check,
    replay,
    explain,
    tour,
    capture,
    push,
    delete,
    mcp,
    profile,
    record,
    store,
    token,
    toolchain,
    targets,
    settings,
    debug,
    version,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    options = make_parser().parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except ExplorerError as error:
        print(f"triton-explorer: {error.line}", file=sys.stderr)
        return getattr(options, "error_status", 1)
    except BrokenPipeError:  # the reader of the output has closed it
        sys.stderr.close()
        return 1


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="triton-explorer", description="See everything the Triton compiler does to a kernel."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return parser
