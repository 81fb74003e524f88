"""`matrix`: compile a kernel for several configurations, targets and Triton versions, and print a table."""

from __future__ import annotations

import argparse
import math
import sys
import time
from contextlib import suppress
from itertools import product
from typing import Any

from explorer.cli.api import API, Api, ask
from explorer.cli.tools import (
    Commands,
    add_command,
    add_file,
    add_launch,
    add_targets,
    add_unsafe,
    progress_line,
    read_files,
    read_given_source,
    with_output_code,
)
from explorer.errors import InvalidRequest
from explorer.model import Scalar
from explorer.model.hardware import DEFAULT_TARGET

_FORMATS = {"markdown": "/table.md", "csv": "/table.csv", "json": ""}
#: A matrix has no event stream: its document is requested repeatedly until all cells have a result. The
#: first wait is short, because stored results are available at once.
_ASK_AGAIN_SECONDS = (0.05, 0.5)
_ENDED = ("complete", "failed", "kernels_found", "refused")
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_WORDS: dict[str, Scalar] = {"True": True, "False": False, "None": None}


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "matrix", run, "compile a kernel for several configurations, targets and Triton versions"
    )
    add_file(parser)
    add_launch(parser)
    add_targets(parser)
    parser.add_argument(
        "--configs",
        type=_configs,
        default=[],
        metavar="INDICES",
        help='indices of autotune configurations, separated by commas, or "all" (default: the launch\'s own)',
    )
    for name in _OPTIONS:
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=_numbers,
            default=[],
            metavar="NUMBERS",
            help=f"values of {name}, separated by commas: each is combined with each configuration",
        )
    for name, what in (("option", "another compiler option"), ("constant", "a constexpr argument")):
        parser.add_argument(
            f"--{name}",
            type=_named_values,
            action="append",
            default=[],
            metavar="NAME=VALUES",
            help=f"values of {what}, separated by commas; repeat it for further names",
        )
    parser.add_argument(
        "--private", action="store_true", help="store the results at addresses that nobody can guess"
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="markdown", help="format of the table (default: %(default)s)"
    )
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Compile the cells and print the table. The status is 1 if a cell has no result."""
    options.triton = None  # the server that answers has the newest version
    source = read_given_source(options.file)
    targets = options.targets or [DEFAULT_TARGET]
    compilation = {
        "source": source,
        "target": targets[0],
        "kernel": options.kernel,
        "launch": options.launch,
        "arguments": options.signature,
        "private": options.private or None,
        **read_files(options),
    }
    body = {
        "compilation": {name: value for name, value in compilation.items() if value is not None},
        "configurations": _configurations(options),
        "targets": targets,
        "tritons": options.tritons,
    }

    def question(api: Api) -> tuple[dict[str, Any], str]:
        document = compile_matrix(api, body)
        if program := next((cell for cell in document["cells"] if cell["state"] == "kernels_found"), None):
            code = api.document(f"{API}/compilations/{program['id']}")["output_code"]
            body["compilation"] = with_output_code(body["compilation"], code)
            document = compile_matrix(api, body)
        address = document["api"] + _FORMATS[options.format]
        is_linked = options.format == "markdown" and bool(api.url)
        return document, api.get(address + ("?links=1" if is_linked else "")).decode()

    document, table = ask(options, question, is_for_one_job=False)
    print(table, end="" if table.endswith("\n") else "\n")
    failed = [cell for cell in document["cells"] if cell["state"] != "complete"]
    for cell in failed:
        title = document["configurations"][cell["configuration"]]["title"]
        reason = " ".join(cell["message"].split())
        print(
            f"{title}, {cell['target']}, Triton {cell['triton']}: {cell['state']}: {reason}", file=sys.stderr
        )
    return 1 if failed else 0


def _configurations(options: argparse.Namespace) -> list[dict[str, Any]] | str:
    """Return the configurations of the request: each autotune configuration with each combination of values.

    Raises:
        InvalidRequest: the indices are unknown at this point.
    """
    numbers = [(name, given) for name in _OPTIONS if (given := getattr(options, name))]
    of_options = _combinations([*numbers, *options.option])
    of_constants = _combinations(options.constant)
    if options.configs == "all":
        if any(of_options) or any(of_constants):
            raise InvalidRequest("--configs all cannot be combined with values. Give indices to --configs.")
        return "all"
    return [
        {"config": config, "options": option_values, "constants": constants}
        for config, constants, option_values in product(options.configs or [None], of_constants, of_options)
    ]


def _combinations(lists: list[tuple[str, list[Scalar]]]) -> list[dict[str, Scalar]]:
    """Return each combination of the values of several names. Lists of the same name are joined."""
    values: dict[str, list[Scalar]] = {}
    for name, given in lists:
        values.setdefault(name, []).extend(given)
    return [dict(zip(values, each, strict=True)) for each in product(*values.values())]


def compile_matrix(api: Api, body: dict[str, Any], progress: str = "") -> dict[str, Any]:
    """Compile a matrix and return its document. If the user interrupts the wait, the rest is canceled.

    `progress` is shown on a terminal in front of the number of cells that are done.
    """
    ticket = api.post(f"{API}/matrices", body)
    seconds, longest = _ASK_AGAIN_SECONDS
    with progress_line() as show:
        try:
            while (document := api.document(ticket["api"]))["is_at_work"]:
                done = sum(cell["state"] in _ENDED for cell in document["cells"])
                show(f"{progress}{done} of {ticket['cells']}")
                time.sleep(seconds)
                seconds = min(1.2 * seconds, longest)
        except KeyboardInterrupt:
            api.delete(ticket["api"])
            document = api.document(ticket["api"])
    return dict(document)


def _configs(text: str) -> list[int] | str:
    return "all" if text == "all" else _numbers(text)


def _numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 4,8") from error


def _named_values(text: str) -> tuple[str, list[Scalar]]:
    name, _, values = text.partition("=")
    texts = [each.strip() for each in values.split(",")]
    if not name.isidentifier() or "" in texts:
        raise argparse.ArgumentTypeError(f"{text!r} is not a name with values such as BLOCK=64,128")
    return name, [_value(each) for each in texts]


def _value(text: str) -> Scalar:
    """Return the finite number or the word of Python that a text is, or else the text."""
    for read in (int, float):
        with suppress(ValueError):
            if "_" not in text and abs(value := read(text)) < math.inf:
                return value
    return _WORDS.get(text, text)
