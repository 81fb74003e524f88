"""`capture`: run a program, and record the kernels that it compiles."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from explorer.capture.command import execute, variables
from explorer.capture.folder import DEFAULT_LIMIT_BYTES
from explorer.cli.tools import Commands, add_command, make_folder
from explorer.errors import InvalidRequest
from explorer.model.hardware import find_target

_MEBIBYTE = 1 << 20


def add(commands: Commands) -> None:
    parser = add_command(commands, "capture", run, "run a program and record the kernels that it compiles")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="DIR",
        default=Path("triton-capture"),
        help="folder to write to; several processes and programs may share it (default: %(default)s)",
    )
    parser.add_argument(
        "--target",
        default="",
        metavar="TARGET",
        help="run without a GPU, as if the machine had this one: kernels are compiled, nothing is computed",
    )
    parser.add_argument(
        "--limit",
        type=int,
        metavar="MIB",
        default=DEFAULT_LIMIT_BYTES // _MEBIBYTE,
        help="size of the folder at which no more kernels are recorded, in MiB (default: %(default)s)",
    )
    parser.add_argument(
        "--print-environment",
        action="store_true",
        help="print the variables that capture every Python process, for a launcher on other machines",
    )
    parser.add_argument("program", nargs="*", metavar="COMMAND", help="the program, after --")


def run(options: argparse.Namespace) -> int:
    """Run the program, or print the environment for it.

    Raises:
        InvalidRequest: there is no program, or it cannot be started.
    """
    if options.target:
        find_target(options.target)
    limit_bytes = options.limit * _MEBIBYTE
    if options.print_environment:
        for name, value in variables(options.output, options.target, limit_bytes, "").items():
            # The shell's PYTHONPATH follows the folder of the capture.
            rest = '"${PYTHONPATH:+:$PYTHONPATH}"' if name == "PYTHONPATH" else ""
            print(f"export {name}={shlex.quote(value)}{rest}")
        return 0
    if not options.program:
        raise InvalidRequest("Name the program after --, as in: triton-explorer capture -- python train.py")
    make_folder(options.output)
    try:
        execute(options.program, options.output, options.target, limit_bytes)
    except OSError as error:
        raise InvalidRequest(f"Cannot start {options.program[0]}: {error.strerror}.") from error
    return 0
