"""`store`: remove results that nobody has retained, and look for damaged ones."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.cli.tools import Commands, add_command, add_group
from explorer.errors import InvalidRequest
from explorer.settings import Settings

if TYPE_CHECKING:  # slow to import
    from explorer.store import Quotas, Store


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parts = add_group(commands, "store", "remove or verify stored results")
    prune = add_command(parts, "prune", run_prune, "remove results that exceed the quotas or the age")
    prune.add_argument(
        "--keep-days",
        type=_amount,
        metavar="DAYS",
        help="remove what was not opened for so long; 0: no limit",
    )
    prune.add_argument(
        "--quota", type=_amount, metavar="MIB", help="space for all requests and results; 0: no limit"
    )
    prune.add_argument("--retained", action="store_true", help="remove retained results, too")
    # Its earlier name.
    prune.add_argument("--pinned", dest="retained", action="store_true", help=argparse.SUPPRESS)
    verify = add_command(parts, "verify", run_verify, "read all stored texts, and list the damaged ones")
    verify.add_argument(
        "--repair",
        action="store_true",
        help="remove damaged texts; their results are computed again when they are opened",
    )
    for each in (prune, verify):
        each.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")


def run_prune(options: argparse.Namespace) -> int:
    """Remove results, also while a server uses the folder."""
    with _open_store(options) as store:
        pruned = store.prune(with_retained=options.retained)
    print(
        f"Removed {pruned.results:,} results, {pruned.requests:,} requests and {pruned.blobs:,} texts. "
        f"The store takes {pruned.bytes / 2**20:,.1f} MiB."
    )
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """List damage, and return 1 if there is any that is not repaired."""
    found = 0
    with _open_store(options) as store:
        for damage in store.verify(repair=options.repair):
            found += 1
            what = "missing" if damage.is_missing else "damaged"
            print(f"{damage.address}: {what}; used by {damage.record_id or 'no result'}", flush=True)
    if not found:
        print("All stored texts are sound.")
    elif options.repair:
        print("Repaired: the results are computed again when they are opened.")
    else:
        print("Run the command with --repair, or restore the files from a backup.")
    return 0 if options.repair or not found else 1


@contextmanager
def _open_store(options: argparse.Namespace) -> Iterator[Store]:
    from explorer.store import open_store  # slow to import

    settings = Settings.from_environment()
    folder = options.data_dir or settings.data_dir
    if not folder.is_dir():
        raise InvalidRequest(f"There is no folder {folder}. Name the data folder with --data-dir.")
    store = open_store(folder, settings.database_url, _quotas(options, settings))
    try:
        yield store
    finally:
        store.close()


def _amount(text: str) -> float:
    """Parse a number that is not negative."""
    with suppress(ValueError):
        value = float(text)
        if math.isfinite(value) and value >= 0:
            return value
    raise argparse.ArgumentTypeError(f"must be a number of at least 0, got {text!r}")


def _quotas(options: argparse.Namespace, settings: Settings) -> Quotas:
    """Return the quotas of the settings, with those of the command line."""
    from explorer.services import quotas_of

    quotas = quotas_of(settings)
    if getattr(options, "keep_days", None) is not None:
        quotas = replace(quotas, keep_days=options.keep_days)
    if getattr(options, "quota", None) is not None:
        quotas = replace(quotas, total_bytes=int(options.quota * 2**20))
    return quotas
