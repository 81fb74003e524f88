"""Comparison of answers with the answers of an earlier version."""

import io
import zipfile

#: Fields that depend on this machine.
OF_THIS_MACHINE = {"devices", "recordings"}
#: Fields of a pass that are null until somebody asks for the changes of the compilation. A later version may
#: find that fewer lines differ, because it resolves more names in them.
COUNTED_LATER = {"lines_added", "lines_removed", "operations_added", "operations_removed", "operations_moved"}
#: Fields of a diff that say which lines these are.
COUNTED_LINES = {"runs", "moves"}
#: Fields that were replaced because their values were wrong.
REPLACED = {"innermost", "limit", "loop"}
#: Lists of rows with names, which can have more rows later.
WITH_LATER_ROWS = {"resources"}
#: Fields with the words and the drawing of a graph.
DRAWN = {"label", "dot"}


def read_zip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _has_rows(now, before):
    rows = {row["name"]: row for row in now}
    return all(contains(rows[row["name"]], row) for row in before)


def contains(now, before, *, is_reworded=False):
    """Return whether a document has all fields of an earlier document, with the same values.

    If it is reworded, texts of several words may differ.
    """
    if isinstance(before, dict):
        return isinstance(now, dict) and all(
            name in OF_THIS_MACHINE | REPLACED | DRAWN
            or (name in COUNTED_LATER and (value is None or now[name] <= value))
            or (name in COUNTED_LINES and "lines_added" in before)
            or (name in WITH_LATER_ROWS and isinstance(value, list) and _has_rows(now[name], value))
            or (name in now and contains(now[name], value, is_reworded=is_reworded))
            for name, value in before.items()
        )
    if isinstance(before, list):
        same_length = isinstance(now, list) and len(now) == len(before)
        return same_length and all(
            contains(*pair, is_reworded=is_reworded) for pair in zip(now, before, strict=True)
        )
    if is_reworded and isinstance(before, str) and " " in before:
        return isinstance(now, str) and " " in now
    return now == before
