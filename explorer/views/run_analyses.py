"""What follows from the measurements of a run: how far it is from the roof, and where its time goes."""

from __future__ import annotations

import msgspec
from flask import Blueprint, Response

from explorer.analysis.heat import HeatDocument
from explorer.analysis.roofline.documents import RooflineDocument
from explorer.analysis.roofline.roofline import roofline
from explorer.errors import NotAnswerable
from explorer.measurements import Samples
from explorer.roofs import kept_roofs
from explorer.run_documents import environment_of
from explorer.run_facts import facts_of, heat_of
from explorer.services import Services, services
from explorer.store import Record
from explorer.views.http import json_part, json_response
from explorer.views.links import API
from explorer.views.operation import documented
from explorer.views.runs import COMPILATION, FoundRun

blueprint = Blueprint("run_analyses", __name__, url_prefix=f"{API}/runs/<run_id>")


@blueprint.get("/roofline")
@documented({200: RooflineDocument}, None, COMPILATION)
def show_roofline(run_id: str) -> Response:
    """How far the kernel is from the speed of light, what limits it, and what would bring it nearer.

    A run that goes on is answered as far as it has come.
    """
    found = FoundRun.of(run_id)
    return json_response(roofline_document(services(), found.record, found.compilation))


@blueprint.get("/heat")
@documented({200: HeatDocument}, None, COMPILATION)
def show_heat(run_id: str) -> Response:
    """Where the program counter was found: by instruction, by line of the source and of the other stages."""
    found = FoundRun.of(run_id)
    return json_part(found.record, heat_document(found.record, _compiled(found)))


def roofline_document(here: Services, run: Record, compilation: Record | None) -> RooflineDocument:
    """The roofline of a run, with the roofs that are known of its GPU."""
    environment = environment_of(run)
    roofs = kept_roofs(here, environment.gpu) if environment else None
    return roofline(facts_of(run, compilation, roofs))


def heat_document(run: Record, compilation: Record) -> HeatDocument:
    """The samples of a run on the lines of a compilation.

    Raises:
        NotFound: no samples were taken (yet).
        NotAnswerable: the compilation has no SASS.
    """
    samples = msgspec.json.decode(run.measurement("samples"), type=Samples)
    document = heat_of(samples, compilation)
    if document is None:
        raise NotAnswerable("The compilation has no SASS to put the samples on.")
    return document


def _compiled(found: FoundRun) -> Record:
    """The compilation of a run.

    Raises:
        NotAnswerable: there is none, it is of another kernel, or it is not finished.
    """
    if found.stranger is not None:
        run, other = found.record, found.stranger
        raise NotAnswerable(
            f"What ran is {run.kernel} for {run.request.target}, and this compilation is of {other.kernel} "
            f"for {other.request.target}: samples say something of the kernel only that they were taken of."
            if (run.kernel, run.request.target) != (other.kernel, other.request.target)
            else f"What ran is another {run.kernel} than that of this compilation: their sources differ."
        )
    if found.compilation is None:
        raise NotAnswerable("Say with which compilation it is looked at: ?compilation=<id>.")
    if not found.compilation.is_finished:
        raise NotAnswerable("The compilation that this is to be shown on is not finished yet.")
    return found.compilation
