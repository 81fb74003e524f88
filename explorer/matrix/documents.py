"""The documents of a matrix: its state, and the metrics of each cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

import msgspec

from explorer.documents import ApiLinks, TargetDocument
from explorer.documents.links import API
from explorer.matrix.compiler import MatrixCompiler
from explorer.matrix.matrix import Cell, Configuration, Matrix
from explorer.matrix.times import CellTime, cell_time
from explorer.model import CANCELED, Inspection, LineEdit, Scalar
from explorer.model.hardware import find_target
from explorer.model.metrics import TABLE_METRICS, Better
from explorer.profiles.read import Profiles
from explorer.queries import metrics
from explorer.queries.metrics import MetricsDocument
from explorer.store import Collection, Record

#: "missing": not compiled, or canceled. "refused": the server did not take it. "kernels_found": nothing
#: of a program with `torch.compile` is compiled; its kernels are in the output code.
CellState = Literal["missing", "waiting", "compiling", "complete", "failed", "kernels_found", "refused"]

#: User code determines these texts, and a table may have each 500 times: settings, and characters of a text.
_MOST_SETTINGS = 100
_MOST_CHARACTERS = 1_000
_TORCH_PROGRAM = "A compiler writes the kernels of this program. Open it to compile them."
_ONLY_FAILED = "The compilation failed without a message. See its log."


class ColumnDocument(msgspec.Struct, frozen=True):
    """A column of the table: a metric, its unit, which of two values is better, and whether it is a goal.

    The best value of a metric that is no goal, such as the number of registers, does not make a good kernel.
    """

    name: str
    title: str
    unit: str
    better: Better
    is_goal: bool


class ConfigurationDocument(msgspec.Struct, frozen=True):
    """A configuration of a matrix.

    `settings` are its arguments and options, and the texts of changed lines by names such as "line 12". The
    settings of an autotune configuration are known when a cell has been compiled. `title` has the settings
    that differ between configurations. At most 100 settings are listed, with 1,000 characters each.
    """

    config: int | None
    settings: dict[str, Scalar]
    title: str


class CellDocument(msgspec.Struct, frozen=True):
    """A cell: a compilation, which exists when it has an `id`. `configuration` is an index into
    `configurations`.

    `stage` is the last stage of a compilation that runs. `message` says why a cell failed, was refused or has
    no metrics. `is_final`: the cell is not compiled again. A cell that reached its time limit, for example,
    is not final.
    """

    configuration: int
    target: str
    triton: str
    state: CellState
    is_final: bool
    id: str | None
    url: str | None
    stage: str
    metrics: MetricsDocument | None
    time: CellTime | None
    message: str


class MatrixDocument(msgspec.Struct, frozen=True):
    """A matrix. While `is_at_work`, the server compiles its cells.

    The cells are ordered by configuration, then by target, then by Triton version.
    """

    id: str
    url: str
    api: str
    created: datetime
    is_at_work: bool
    kernel: str | None
    configurations: list[ConfigurationDocument]
    targets: list[TargetDocument]
    tritons: list[str]
    columns: list[ColumnDocument]
    cells: list[CellDocument]


def matrix_url(matrix_id: str) -> str:
    """Return the address of the page of a matrix."""
    return f"/m/{matrix_id}"


def matrix_api(matrix_id: str) -> str:
    """Return the address of the document of a matrix."""
    return f"{API}/matrices/{matrix_id}"


def matrix_document(compiler: MatrixCompiler, profiles: Profiles, stored: Collection) -> MatrixDocument:
    matrix = Matrix.of(stored.content)
    is_at_work = compiler.is_at_work(stored.id)  # before the cells: the last state is complete
    refused = compiler.refused(stored.id)
    found = [_latest(compiler, cell) for cell in matrix.cells]
    records = [record for record in found if record is not None]
    cells = [
        _cell(compiler, profiles, cell, record, is_at_work=is_at_work, refusal=refused.get(index, ""))
        for index, (cell, record) in enumerate(zip(matrix.cells, found, strict=True))
    ]
    return MatrixDocument(
        id=stored.id,
        url=matrix_url(stored.id),
        api=matrix_api(stored.id),
        created=stored.created,
        is_at_work=is_at_work,
        kernel=next((each.kernel for each in records if each.kernel), matrix.request.kernel),
        configurations=_configurations(matrix, records),
        targets=[TargetDocument.of(find_target(name)) for name in matrix.targets],
        tritons=list(matrix.tritons),
        columns=[
            ColumnDocument(metric.name, metric.title, metric.unit, metric.better, metric.is_goal)
            for metric in TABLE_METRICS
        ],
        cells=cells,
    )


def _latest(compiler: MatrixCompiler, cell: Cell) -> Record | None:
    record = compiler.store.known(cell.request)
    return None if record is None else compiler.queue.latest(record)


def _cell(
    compiler: MatrixCompiler,
    profiles: Profiles,
    cell: Cell,
    record: Record | None,
    *,
    is_at_work: bool,
    refusal: str,
) -> CellDocument:
    state = _state(record, is_at_work=is_at_work, is_refused=bool(refusal))
    complete = record if state == "complete" else None
    is_shown = record is not None and state not in ("missing", "refused")
    stages = list(record.result.stages.values()) if record is not None and state == "compiling" else []
    return CellDocument(
        configuration=cell.configuration,
        target=cell.request.target,
        triton=cell.request.triton,
        state=state,
        is_final=record is not None and record.is_final,
        id=record.id if record is not None and is_shown else None,
        url=ApiLinks(record.id).page if record is not None and is_shown else None,
        stage=stages[-1].title[:_MOST_CHARACTERS] if stages else "",
        metrics=None if complete is None else _metrics(compiler, complete),
        time=None if complete is None else cell_time(compiler.store, profiles, complete),
        message=_message(state, record, refusal)[:_MOST_CHARACTERS],
    )


def _state(record: Record | None, *, is_at_work: bool, is_refused: bool) -> CellState:
    status = "queued" if record is None or _is_canceled(record) else record.status
    if status in ("complete", "failed", "kernels_found"):
        return status
    if is_refused:
        return "refused"
    if status == "running":
        return "compiling"
    return "waiting" if is_at_work else "missing"


def _is_canceled(record: Record) -> bool:
    return not record.is_final and any(each.message == CANCELED.message for each in record.result.diagnostics)


def _metrics(compiler: MatrixCompiler, record: Record) -> MetricsDocument | None:
    """Return the metrics of a result if they are counted."""
    answer = compiler.query_service.cached(metrics.QUERY, record, {})
    return None if answer is None else msgspec.json.decode(answer, type=MetricsDocument)


def _message(state: CellState, record: Record | None, refusal: str) -> str:
    if refusal or record is None:
        return refusal
    if state == "failed":
        errors = (each for each in record.result.diagnostics if each.severity == "error")
        return next(("\n".join(filter(None, (each.message, each.hint))) for each in errors), _ONLY_FAILED)
    return _TORCH_PROGRAM if state == "kernels_found" else ""


def _configurations(matrix: Matrix, records: Iterable[Record]) -> list[ConfigurationDocument]:
    known = _autotuned(records)
    all_settings: list[dict[str, Scalar]] = [
        {
            **known.get(each.config, {}),
            **each.constants,
            **each.options,
            **{_line(edit): edit.text.strip() for edit in each.edits},
        }
        for each in matrix.configurations
    ]
    names = list(dict.fromkeys(name for each in all_settings for name in each))[:_MOST_SETTINGS]
    settings = [{name: _shown(each[name]) for name in names if name in each} for each in all_settings]
    varying = [name for name in names if len({repr(each.get(name)) for each in settings}) > 1]
    return [
        ConfigurationDocument(configuration.config, each, _title(configuration, each, varying))
        for configuration, each in zip(matrix.configurations, settings, strict=True)
    ]


def _title(configuration: Configuration, settings: Mapping[str, Scalar], varying: Sequence[str]) -> str:
    """Return the settings that differ: "num_warps=8", "line 12: x = y", or "unchanged"."""
    lines = set(map(_line, configuration.edits))
    text = ", ".join(
        f"{name}: {settings[name]}" if name in lines else f"{name}={settings[name]}"
        for name in varying
        if name in settings
    )
    if text or configuration.config is not None:
        return text or f"config {configuration.config}"
    changes = configuration.edits or configuration.constants or configuration.options
    return "changed" if changes else "unchanged" if varying else "default"


def _line(edit: LineEdit) -> str:
    return f"line {edit.line}"


def _autotuned(records: Iterable[Record]) -> dict[int | None, dict[str, Scalar]]:
    """Return the settings of the autotune configurations of the kernel, by index."""
    for record in records:
        inspection = record.result.inspection or Inspection((), ())
        for kernel in inspection.kernels:
            if kernel.name == record.kernel and kernel.configs:
                return {
                    config.index: dict(
                        islice((*config.arguments.items(), *config.options.items()), _MOST_SETTINGS)
                    )
                    for config in kernel.configs
                }
    return {}


def _shown(value: Scalar) -> Scalar:
    return value[:_MOST_CHARACTERS] if isinstance(value, str) else value
