"""What the commands share: the services behind them, a file to read, how a diagnostic is printed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.errors import InvalidRequest
from explorer.model import Diagnostic
from explorer.services import DEFAULT_TARGET, Services
from explorer.settings import Settings
from explorer.store import Record

Commands = argparse._SubParsersAction  # argparse has no public name for what `add_subparsers` returns


@contextmanager
def open_services(options: argparse.Namespace, **changes: Any) -> Iterator[Services]:
    """All that compiles and runs, without a server, and with a store that is gone afterwards.

    `changes` are settings that differ from those of the environment.
    """
    with tempfile.TemporaryDirectory(prefix="triton-explorer-") as folder:
        settings = replace(
            Settings.from_environment(), data_dir=Path(folder), database_url="", slots=1, **changes
        )
        if options.unsafe_no_sandbox:
            settings = replace(settings, unsafe_no_sandbox=True)
        services = Services(settings, warm_up=False)
        try:
            yield services
        finally:
            services.close()


def read_source(path: Path) -> str:
    """The text of a file; of the standard input for "-".

    Raises:
        InvalidRequest: it cannot be read, or is no text.
    """
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path} is no UTF-8 text: {error}.") from error


def make_folder(path: Path) -> None:
    """See to it that files can be written into a folder, before anything else is done.

    Raises:
        InvalidRequest: it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be made a folder: {error.strerror}.") from error


def tell_written(path: Path) -> None:
    """Say where the results are, beside what went wrong, so that the output can be piped."""
    print(f"Written: {path}", file=sys.stderr)


def report(record: Record, path: Path) -> int:
    """Print what went wrong as compilers do; return the exit status."""
    for diagnostic in record.result.diagnostics:
        print(format_diagnostic(diagnostic, str(path)), file=sys.stderr)
    return 0 if record.status == "complete" else 1


def format_diagnostic(diagnostic: Diagnostic, path: str) -> str:
    """`kernel.py:12:5: error: …`, and the hint on a line of its own."""
    place = path
    if diagnostic.line:
        place += f":{diagnostic.line}"
        if diagnostic.column:
            place += f":{diagnostic.column}"
    text = f"{place}: {diagnostic.severity}: {diagnostic.message}"
    return f"{text}\n{place}: note: {diagnostic.hint}" if diagnostic.hint else text


def add_command(
    commands: Commands[argparse.ArgumentParser],
    name: str,
    command: Callable[[argparse.Namespace], int],
    summary: str,
) -> argparse.ArgumentParser:
    """A command with its one-line help."""
    parser = commands.add_parser(name, help=summary, description=summary.capitalize() + ".")
    parser.set_defaults(command=command)
    return parser


def add_source(parser: argparse.ArgumentParser) -> None:
    """The file, what it is compiled for, and with."""
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="Python file with the kernel; - reads the input"
    )
    parser.add_argument("--target", default=DEFAULT_TARGET, help="GPU (default: %(default)s)")
    parser.add_argument("--triton", metavar="VERSION", help="Triton version (default: the newest)")
    add_unsafe(parser)


def add_unsafe(parser: argparse.ArgumentParser) -> None:
    """The way out for machines without a sandbox."""
    parser.add_argument(
        "--unsafe-no-sandbox", action="store_true", help="run the code unconfined; only code that you trust"
    )
