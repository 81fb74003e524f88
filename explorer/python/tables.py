"""The tables of a result as data frames of pandas, which is imported when a table is requested.

In: the documents of a compilation. Out: for each table its rows, and the data frame that is made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from explorer.analysis.memory.memory_map_types import BufferMap
from explorer.documents import CompilationDocument, PassDocument
from explorer.errors import InvalidRequest
from explorer.queries.allocation import AllocationDocument
from explorer.queries.changes import PassChanges
from explorer.queries.findings.finding import Finding
from explorer.queries.metrics import MetricsDocument
from explorer.queries.registers import Instruction

if TYPE_CHECKING:
    from pandas import DataFrame

Table = Literal["metrics", "passes", "instructions", "buffers", "findings"]


Row = dict[str, Any]


def metric_rows(document: CompilationDocument, metrics: MetricsDocument) -> list[Row]:
    """Return one row: the metrics, with the kernel, the target and the Triton version."""
    of_what = {"kernel": document.kernel, "target": document.target.name, "triton": document.triton}
    return [of_what | msgspec.structs.asdict(metrics)]


def pass_rows(passes: Sequence[PassDocument], changes: Sequence[PassChanges]) -> list[Row]:
    counted = {each.index: msgspec.structs.asdict(each) for each in changes}
    return [msgspec.structs.asdict(each) | counted.get(each.index, {}) for each in passes]


def instruction_rows(instructions: Sequence[Instruction], sass: str) -> list[Row]:
    """Return a row for each instruction of SASS."""
    lines = sass.splitlines()
    return [
        msgspec.structs.asdict(each) | {"text": lines[each.line - 1].strip() if each.line else ""}
        for each in instructions
    ]


def buffer_rows(memory: AllocationDocument) -> list[Row]:
    return [
        vars(each) | {"function": function.name, "source_line": each.first.source_line}
        for function in memory.functions
        for each in function.buffers
    ]


#: The fields that a table leaves out: lists and documents.
_NESTED = ("first", "last", "uses", "views", "alive_with", "shares_bytes_with")
_COLUMNS: dict[Table, list[str]] = {
    "metrics": ["kernel", "target", "triton", *MetricsDocument.__struct_fields__],
    "passes": [name for name in PassDocument.__struct_fields__ if name != "url"],
    "instructions": [*Instruction.__struct_fields__, "text"],
    "buffers": [
        "function",
        *(each.name for each in fields(BufferMap) if each.name not in _NESTED),
        "source_line",
    ],
    "findings": list(Finding.__struct_fields__),
}


def data_frame(table: Table, rows: Callable[[], list[Row]]) -> DataFrame:
    """Return a table. Its rows are computed when pandas and the table are known.

    Raises:
        InvalidRequest: pandas is missing, or there is no such table.
    """
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise InvalidRequest(
            f"The package {error.name} is missing. Install triton-explorer[pandas], then try again."
        ) from error
    if table not in _COLUMNS:
        raise InvalidRequest(f"There is no table {table!r}. Known are {', '.join(_COLUMNS)}.")
    # A missing number does not change the type of the other numbers in its column.
    frame = pandas.DataFrame.from_records(rows(), columns=_COLUMNS[table]).convert_dtypes()
    missing = frame.columns[frame.isna().all() & bool(len(frame))]
    return frame.astype(dict.fromkeys(missing, "Int64"))
