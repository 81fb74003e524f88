"""The query for the roofline of a run."""

from __future__ import annotations

from explorer.analysis.roofline.compose import roofline
from explorer.analysis.roofline.documents import RooflineDocument
from explorer.model.measurements import Autotuning, Roofs
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.queries.run_facts import facts_of


def _find(subject: Subject) -> RooflineDocument:
    _, compilation, roofs_run, tuned = subject.records
    roofs = roofs_run.measured("roofs", Roofs) if roofs_run else None
    autotuning = tuned.measured("autotuning", Autotuning) if tuned else None
    return roofline(facts_of(subject.record, compilation, roofs, autotuning))


QUERY = Query(
    name="roofline",
    about="run",
    summary="How far the kernel is from the limits of the GPU, which limit binds, and what would help. "
    "The answer about an unfinished run is based on the measurements made so far.",
    version=4,
    document=RooflineDocument,
    find=_find,
    is_lasting=False,  # a different answer when the roofs of the GPU have been measured
    saved=nothing_saved,
)
