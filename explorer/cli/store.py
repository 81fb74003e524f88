"""`store`: count, check, repair, remove, back up and restore stored results."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.cli.tools import Commands, add_command, add_group, print_json
from explorer.errors import InvalidRequest
from explorer.settings import Settings

if TYPE_CHECKING:  # slow to import
    from explorer.store import Copied, Group, Store

_MOST_CLIENTS = 20


def add(commands: Commands) -> None:
    parts = add_group(commands, "store", "count, check, repair, remove, back up or restore stored results")
    stats = add_command(parts, "stats", run_stats, "count results and texts by kind, age and client")
    stats.add_argument("--json", action="store_true", help="print JSON")
    prune = add_command(parts, "prune", run_prune, "remove results that exceed the quotas or the age")
    prune.add_argument(
        "--keep-days",
        type=_amount,
        metavar="DAYS",
        help="remove results that were not opened for this time; 0: no limit",
    )
    prune.add_argument(
        "--quota", type=_amount, metavar="MIB", help="space for all requests and results; 0: no limit"
    )
    prune.add_argument("--retained", action="store_true", help="remove retained results, too")
    # Its earlier name.
    prune.add_argument("--pinned", dest="retained", action="store_true", help=argparse.SUPPRESS)
    check = add_command(parts, "check", run_check, "read all stored texts, and list the damaged ones")
    repair = add_command(
        parts, "repair", run_repair, "remove damaged texts; their results are computed again when opened"
    )
    backup = add_command(parts, "backup", run_backup, "copy all results, also while a server runs")
    backup.add_argument("backup", type=Path, help="new folder, or new archive that ends with .tar")
    restore = add_command(parts, "restore", run_restore, "create a data folder from a backup")
    restore.add_argument("backup", type=Path, help="folder or archive that `backup` has written")
    for each in (stats, check, repair, prune, backup, restore):
        each.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")


def run_stats(options: argparse.Namespace) -> int:
    """Print the statistics of the store."""
    with _open_store(options) as store:
        statistics = store.statistics()
    if options.json:
        print_json(statistics)
        return 0
    print(f"{statistics.texts:,} texts, {_size(statistics.text_bytes)}\n")
    rows = [_row("all", statistics.all)]
    for title, groups in (
        ("by task", statistics.by_task),
        ("by status", statistics.by_status),
        ("by time since the last use, up to a", statistics.by_age),
        ("by client", dict(islice(statistics.by_client.items(), _MOST_CLIENTS))),
    ):
        rows += [("", "", "", ""), (title, "", "", "")]
        rows += [_row(f"  {name or 'unknown'}", group) for name, group in groups.items()]
    print(_table([("", "requests", "results", "size"), *rows]))
    print("\nThe largest results, including shared texts:")
    for each in statistics.largest:
        used = f"{each.used:%Y-%m-%d}"
        print(f"  {each.id}  {_size(each.bytes):>12}  {each.task} for {each.target}, last used {used}")
    return 0


def run_backup(options: argparse.Namespace) -> int:
    """Write a backup, and return 1 if texts are missing."""
    with _open_store(options) as store:
        copied = store.back_up(options.backup)
    print(f"Copied {copied.texts:,} texts, {_size(copied.bytes)}, and the database to {options.backup}.")
    return _lost(copied, "missing or damaged in the store", "Run `triton-explorer store repair`.")


def run_restore(options: argparse.Namespace) -> int:
    """Restore a backup, and return 1 if texts are damaged."""
    from explorer.store import restore_store  # slow to import

    settings = _settings(options)
    folder = settings.data_dir
    urls = (settings.database_url, settings.blobs_url, settings.blob_cache_bytes)
    copied = restore_store(options.backup, folder, *urls)
    print(f"Restored {copied.texts:,} texts, {_size(copied.bytes)}, and the database in {folder}.")
    return _lost(copied, "damaged in the backup", "Their results are computed again when they are opened.")


def _lost(copied: Copied, what: str, remedy: str) -> int:
    """List texts that were not copied, and return the exit status."""
    for address in copied.lost:
        print(f"{address}: {what}", file=sys.stderr)
    if copied.lost:
        print(remedy, file=sys.stderr)
    return 1 if copied.lost else 0


def run_prune(options: argparse.Namespace) -> int:
    """Remove results, also while a server uses the folder."""
    with _open_store(options) as store:
        pruned = store.prune(with_retained=options.retained)
    print(
        f"Removed {pruned.results:,} results, {pruned.requests:,} requests and {pruned.blobs:,} texts. "
        f"The store takes {_size(pruned.bytes)}."
    )
    return 0


def run_check(options: argparse.Namespace) -> int:
    """List damage, and return 1 if there is any."""
    found = _list_damage(options, repair=False)
    if found:
        print("Run `triton-explorer store repair`, or restore a backup.")
    return 1 if found else 0


def run_repair(options: argparse.Namespace) -> int:
    """List damage and repair it, and return 0."""
    if _list_damage(options, repair=True):
        print("Repaired: the results are computed again when they are opened.")
    return 0


def _list_damage(options: argparse.Namespace, *, repair: bool) -> int:
    """Print each damaged or missing text, and return their number."""
    found = 0
    with _open_store(options) as store:
        for damage in store.verify(repair=repair):
            found += 1
            what = "missing" if damage.is_missing else "damaged"
            print(f"{damage.address}: {what}; used by {damage.record_id or 'no result'}", flush=True)
    if not found:
        print("All stored texts are sound.")
    return found


@contextmanager
def _open_store(options: argparse.Namespace) -> Iterator[Store]:
    from explorer.services import open_store_of  # slow to import

    settings = _settings(options)
    folder = settings.data_dir
    if not folder.is_dir():
        raise InvalidRequest(f"There is no folder {folder}. Name the data folder with --data-dir.")
    store = open_store_of(settings)
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


def _settings(options: argparse.Namespace) -> Settings:
    """Return the settings, with the values of the command line."""
    settings = Settings.from_environment()
    if options.data_dir is not None:
        settings = replace(settings, data_dir=options.data_dir)
    if getattr(options, "keep_days", None) is not None:
        settings = replace(settings, keep_days=options.keep_days)
    if getattr(options, "quota", None) is not None:
        settings = replace(settings, store_quota_bytes=int(options.quota * 2**20))
    return settings


def _row(title: str, group: Group) -> tuple[str, str, str, str]:
    return title, f"{group.requests:,}", f"{group.results:,}", _size(group.bytes)


def _table(rows: list[tuple[str, str, str, str]]) -> str:
    """Lay out rows: a title, and numbers that are aligned on the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = (
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def _size(number: int) -> str:
    return f"{number / 2**20:,.1f} MiB" if number >= 2**20 else f"{number / 2**10:,.1f} KiB"
