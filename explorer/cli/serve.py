"""`serve`: serve the page and the API."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from explorer.cli.tools import Commands, add_command, add_unsafe
from explorer.settings import Settings


def add(commands: Commands) -> None:
    parser = add_command(commands, "serve", run, "serve the page and the API")
    parser.add_argument("--host", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: 8000)")
    parser.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Serve until the process is stopped."""
    from explorer.server.process import Server  # slow to import
    from explorer.services import open_store_for_jobs

    settings = Settings.from_environment()
    given = {name: getattr(options, name) for name in ("host", "port", "data_dir")}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    if options.unsafe_no_sandbox:
        settings = replace(settings, unsafe_no_sandbox=True)
    # Errors of the store are reported here instead of in the log of the worker process.
    open_store_for_jobs(settings).close()
    Server(settings).run()
    return 0
