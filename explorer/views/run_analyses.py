"""What follows from the measurements of a run: how far it is from the roof, and where its time goes."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response

from explorer.analysis.heat import HeatDocument, heat
from explorer.errors import NotAnswerable
from explorer.measurements import Samples
from explorer.store import Record, StageEntry
from explorer.views.http import json_part
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.runs import COMPILATION, FoundRun

blueprint = Blueprint("run_analyses", __name__, url_prefix=f"{API}/runs/<run_id>")


@blueprint.get("/heat")
@documented({200: HeatDocument}, None, COMPILATION)
def show_heat(run_id: str) -> Response:
    """Where the program counter was found: by instruction, by line of the source and of the other stages."""
    found = FoundRun.of(run_id)
    samples = msgspec.json.decode(found.record.measurement("samples"), type=Samples)
    compilation = _compiled(found)
    if "sass" not in compilation.result.stages:
        raise NotAnswerable("The compilation has no SASS to put the samples on.")
    sass, others = compilation.stage("sass"), compilation.result.stages.values()
    document = heat(
        samples,
        compilation.kernel or "",
        compilation.text(sass.text),
        _source_lines(compilation, sass),
        {
            stage.name: (stage.language, compilation.text(stage.text), _source_lines(compilation, stage))
            for stage in others
            if stage is not sass
        },
    )
    return json_part(found.record, document)


def _compiled(found: FoundRun) -> Record:
    """The compilation of a run.

    Raises:
        NotAnswerable: there is none, or it is not finished.
    """
    if found.compilation is None:
        raise NotAnswerable("Say with which compilation it is looked at: ?compilation=<id>.")
    if not found.compilation.is_finished:
        raise NotAnswerable("The compilation that this is to be shown on is not finished yet.")
    return found.compilation


def _source_lines(record: Record, stage: StageEntry) -> list[int]:
    """The first line of the source that each line of a stage stems from; 0: none."""
    return [lines[0] if lines else 0 for lines in record.locations(stage).source_lines()]
