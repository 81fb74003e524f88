"""`inspect`: list the kernels and launches of a file."""

from __future__ import annotations

import argparse
from typing import Any

from explorer.cli.api import API, Api, ask
from explorer.cli.tools import (
    Commands,
    add_command,
    add_source,
    print_json,
    read_files,
    read_given_source,
    report,
)
from explorer.model import Diagnostic
from explorer.model.source_lines import SourceLines


def add(commands: Commands) -> None:
    add_source(add_command(commands, "inspect", run, "list the kernels and launches of a file"))


def run(options: argparse.Namespace) -> int:
    """Inspect a file and print the document."""
    body = {
        "source": read_given_source(options.file),
        "target": options.target,
        "triton": options.triton,
        **read_files(options),
    }

    def question(api: Api) -> Any:
        return api.post(f"{API}/inspect", body)

    document = ask(options, question)
    print_json(document)
    diagnostics = [Diagnostic(**each) for each in document["diagnostics"]]
    lines = SourceLines(body["source"], body.get("path", ""), body.get("files"))
    return report("complete", diagnostics, options, lines)
