"""`tour`: list the tours, print the steps of one, or save it with its results."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import Any

from explorer.cli.api import API, Api, ask
from explorer.cli.tools import Commands, add_command, add_unsafe, make_folder, progress_line, report_file
from explorer.errors import ExplorerError, InvalidRequest
from explorer.tours import TOURS, Tour, find_tour, load_tours

_WIDTH = 100


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "tour", run, "list the tours, print the steps of one, or save it with its results"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="name of the tour (default: list all)")
    parser.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="compile the kernels of its steps, and write one page that works offline",
    )
    parser.add_argument("--triton", metavar="VERSION", help="Triton version (default: the newest)")
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Print or write the output that the options select.

    Raises:
        InvalidRequest: there is no such tour, or no tour is named for writing.
    """
    if options.name is None and options.html:
        raise InvalidRequest(f"Name the tour to write. Known are {', '.join(TOURS)}.")
    if options.name is None:
        for each in load_tours():
            print(f"{each.name:14} {len(each.steps):2} steps  {each.question}")
        return 0
    tour = find_tour(options.name)
    if tour is None:
        raise InvalidRequest(f"There is no tour {options.name!r}. Known are {', '.join(TOURS)}.")
    if options.html:
        make_folder(options.html.parent)
        page = ask(options, lambda api: _saved(api, tour, options.triton), is_for_one_job=False)
        options.html.write_bytes(page)
        report_file(options.html)
    else:
        _print(tour)
    return 0


def _print(tour: Tour) -> None:
    print(f"{tour.title}\n{tour.question}")
    for number, step in enumerate(tour.steps, 1):
        print(f"\n{number}. {step.title}")
        print(textwrap.fill(step.caption, _WIDTH, initial_indent="   ", subsequent_indent="   "))


def _saved(api: Api, tour: Tour, triton: str | None) -> bytes:
    """Compile the kernels of the steps, several at the same time, and return the page.

    Raises:
        ExplorerError: a kernel does not compile, or the API refuses.
    """
    tickets = [api.post(f"{API}/compilations", body) for body in _bodies(tour, triton)]
    with progress_line() as show:
        for number, ticket in enumerate(tickets, 1):
            show(f"{tour.name}: step {number} of {len(tickets)}")
            api.get(ticket["events"])  # the events end with the compilation
            status = api.document(ticket["api"])["status"]
            if status != "complete":
                raise ExplorerError(f"The kernel of step {number} of the tour {tour.name} is {status}.")
    return api.get(f"{API}/tours/{tour.name}/export.html" + (f"?triton={triton}" if triton else ""))


def _bodies(tour: Tour, triton: str | None) -> list[dict[str, Any]]:
    from explorer.views.tours import request_of  # slow to import

    requests = [request_of(step.launch, "") for step in tour.steps]
    return [
        {
            "source": request.source,
            "target": request.target,
            "triton": triton,
            "kernel": request.kernel,
            "options": request.options,
            "arguments": request.arguments,
        }
        for request in requests
    ]
