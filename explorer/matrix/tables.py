"""A matrix as a table in Markdown or CSV: a row for each cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from explorer.matrix.documents import CellDocument, MatrixDocument

_TIME = ("Measured time (µs)", "Measured at")
_TIME_NAMES = ("time_ns", "gpu")


def csv_table(document: MatrixDocument) -> str:
    """Return all cells with their numbers as they are. Columns are named as in the document."""
    settings = list(dict.fromkeys(name for each in document.configurations for name in each.settings))
    metrics = [column.name for column in document.columns]
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    writer.writerow(
        [
            *(
                "configuration",
                "target",
                "triton",
                *settings,
                "state",
                *metrics,
                *_TIME_NAMES,
                "id",
                "message",
            ),
            # A later version adds columns at the end.
            "sizes",
        ]
    )
    for cell in document.cells:
        configuration = document.configurations[cell.configuration]
        writer.writerow(
            [
                cell.configuration,
                cell.target,
                cell.triton,
                *(configuration.settings.get(name, "") for name in settings),
                cell.state,
                *(getattr(cell.metrics, name, None) for name in metrics),
                *((time.nanoseconds, time.gpu) if (time := cell.time) else (None,) * 2),
                cell.id,
                cell.message,
                cell.time.sizes if cell.time else None,
            ]
        )
    return output.getvalue()


def markdown_table(document: MatrixDocument, host: str = "") -> str:
    """Return all cells with their numbers in units for people. With `host`, each cell is a link there."""
    titles = [column.title + (f" ({column.unit})" if column.unit else "") for column in document.columns]
    is_timed = any(cell.time for cell in document.cells)
    head = ["Configuration", "Target", "Triton", *titles, *(_TIME if is_timed else [])]
    rows = [head, ["---"] * 3 + ["--:"] * (len(head) - 3)]
    for cell in document.cells:
        title = escaped(document.configurations[cell.configuration].title)
        name = f"[{title}]({host}{cell.url})" if host and cell.url else title
        rows.append([name, cell.target, cell.triton, *_values(document, cell, is_timed=is_timed)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _values(document: MatrixDocument, cell: CellDocument, *, is_timed: bool) -> Iterator[str]:
    if cell.metrics is None:
        count = len(document.columns) + 2 * is_timed
        text = cell.state + (f": {escaped(cell.message)}" if cell.message else "")
        yield from [text, *[""] * (count - 1)]
        return
    for column in document.columns:
        yield metric_text(getattr(cell.metrics, column.name), column.name)
    if is_timed:
        yield f"{cell.time.nanoseconds / 1000:,.1f}" if cell.time else ""
        yield escaped(cell.time.sizes) if cell.time else ""


def metric_text(value: float | None, name: str) -> str:
    """Return the value of a metric for people; "": it is not known."""
    if value is None:
        return ""
    return f"{value:.0%}" if name == "occupancy" else f"{value:,.0f}"


def escaped(text: str) -> str:
    """Return a text for a cell in one line, with escapes for special characters of Markdown or a terminal."""
    line = " ".join(text.split())
    printable = "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)
    return "".join(f"\\{each}" if each in "\\|[]<>`*_" else each for each in printable)
