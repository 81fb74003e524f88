"""Fuzz one parser, guided by the branches that an input reaches.

    python -m tests.fuzz NAME [--seconds N] [--keep FOLDER]

An input that the parser does not withstand is written to FOLDER, by default the current one. Move it to
`tests/fuzz/corpus/`, where a test uses it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import atheris


def main() -> None:
    """Fuzz the parser that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--list", action="store_true", help="list the names of all parsers")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, default=Path())
    options = parser.parse_args()
    with atheris.instrument_imports(include=["explorer"]):
        from .targets import TARGETS, find_target
    if options.list:
        print(*(each.name for each in TARGETS), sep="\n")
        return
    target = find_target(options.name)
    with tempfile.TemporaryDirectory() as seeds:
        for path in target.seeds:
            (Path(seeds) / f"{path.parent.name}-{path.name}").write_bytes(path.read_bytes())
        arguments = [
            *(f"-max_total_time={options.seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=40000"),
            *(f"-artifact_prefix={options.keep}/{options.name}-", "-print_final_stats=1", seeds),
        ]
        atheris.Setup([sys.argv[0], *arguments], target.try_)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
