"""`explain`: print what a pass, an operation or an instruction does."""

from __future__ import annotations

import argparse
import sys

from explorer.cli.tools import Commands, add_command
from explorer.explanations import explanations, vocabularies


def add(commands: Commands) -> None:
    summary = "print what a pass, an operation or an instruction does"
    parser = add_command(commands, "explain", run, summary)
    parser.add_argument("word", metavar="WORD", help="such as ttg.convert_layout, cp.async or HGMMA")


def run(options: argparse.Namespace) -> int:
    """Print the explanation of a word in each vocabulary that has one."""
    found = {
        vocabulary: words[options.word]
        for vocabulary in vocabularies()
        if options.word in (words := explanations(vocabulary))
    }
    for vocabulary, text in found.items():
        print(f"{vocabulary}: {text}")
    if not found:
        print(f"There is no explanation of {options.word!r}.", file=sys.stderr)
    return 0 if found else 1
