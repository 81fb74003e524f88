"""The query for the metrics of a compilation, as tables and checks compare them."""

from __future__ import annotations

from typing import Any

import msgspec

from explorer.analysis.assembly.operations import operation_kinds
from explorer.documents import ResourcesDocument
from explorer.model.languages import find_language
from explorer.model.metrics import METRICS
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record

_CONVERSION = "ttg.convert_layout"


class MetricsDocument(msgspec.Struct, frozen=True):
    """The metrics of a compilation, by the names in `explorer.model.metrics`. Null: unknown.

    `instructions` counts the machine code, `layout_conversions` the `ttg.convert_layout` of TTGIR.
    """

    registers: int | None
    scalar_registers: int | None
    spills: int | None
    spill_stores_bytes: int | None
    spill_loads_bytes: int | None
    stack_bytes: int | None
    shared_bytes: int | None
    tensor_memory_columns: int | None
    global_scratch_bytes: int | None
    constant_bytes: int | None
    barriers: int | None
    occupancy: float | None
    instructions: int | None
    layout_conversions: int | None
    binary_bytes: int | None
    compile_milliseconds: float | None


def metrics_of(record: Record) -> MetricsDocument:
    result = record.result
    needs = ResourcesDocument.of(result.resources, record.request.target) if result.resources else None
    values: dict[str, Any] = {} if needs is None else msgspec.structs.asdict(needs)
    spills = [values.get(name) for name in ("spill_stores_bytes", "spill_loads_bytes")]
    known_spills = [each for each in spills if each is not None]
    machine_code = next(
        (name for name, each in result.stages.items() if find_language(each.language).purpose), None
    )
    values |= {
        "spills": sum(known_spills) if known_spills else None,
        "instructions": len(_kinds(record, machine_code)) if machine_code else None,
        "layout_conversions": _kinds(record, "ttgir").count(_CONVERSION)
        if "ttgir" in result.stages
        else None,
        "binary_bytes": result.binary.bytes if result.binary else None,
        "compile_milliseconds": result.done.milliseconds if result.done else None,
    }
    return MetricsDocument(**{metric.name: values.get(metric.name) for metric in METRICS})


def _kinds(record: Record, name: str) -> list[str]:
    stage = record.result.stages[name]
    return operation_kinds(record.text(stage.text), stage.language)


def _find(subject: Subject) -> MetricsDocument:
    return metrics_of(subject.record)


QUERY = Query(
    name="metrics",
    summary="The metrics of the compilation: registers, spills, memory, instructions, conversions, times.",
    version=1,
    document=MetricsDocument,
    find=_find,
    saved=nothing_saved,
)
