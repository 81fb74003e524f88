"""`delete`: delete results that this user has submitted to a server."""

from __future__ import annotations

import argparse
import json
from urllib.parse import quote, urlsplit

from explorer.cli.api import API, chosen_server, connected
from explorer.cli.tools import Commands, add_command
from explorer.errors import InvalidRequest

_PAGES = ("k", "s", "m", "embed")


def add(commands: Commands) -> None:
    parser = add_command(
        commands, "delete", run, "delete a result that you have submitted from this account to a server"
    )
    parser.add_argument(
        "result",
        metavar="URL | ID",
        help="address of the page of a compilation, session or matrix; or an ID, also of a run, on the "
        "server that serves the data folder",
    )


def run(options: argparse.Namespace) -> int:
    """Delete a result, and print the results that stay for other clients. The status is 1 if it stays."""
    named, result_id = _parts_of(options.result)
    url = chosen_server(named, "Give the address of the page of the result.")
    with connected(url) as api:
        deleted = json.loads(api.delete(f"{API}/results/{quote(result_id, safe='')}"))
    count = len(deleted["removed"])
    print(f"{count} result{'' if count == 1 else 's'} deleted.")
    if kept := deleted["kept"]:
        print(f"Not deleted, because other clients have submitted or retained them: {', '.join(kept)}.")
    return 1 if result_id in kept else 0


def _parts_of(text: str) -> tuple[str, str]:
    """Return the address of the server ("" if it is not given) and the ID.

    Raises:
        InvalidRequest: the text is not the address of a result.
    """
    parts = urlsplit(text)
    if not parts.scheme:
        return "", text
    prefix, _, result_id = parts.path.rstrip("/").rpartition("/")
    base, _, page = prefix.rpartition("/")
    if page not in _PAGES or not result_id:
        raise InvalidRequest(f"{text} is not the address of a result, such as http://127.0.0.1:8000/k/<id>.")
    return f"{parts.scheme}://{parts.netloc}{base}", result_id
