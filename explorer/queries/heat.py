"""The query for the samples of a run, by instruction and by line."""

from __future__ import annotations

import msgspec

from explorer.analysis.assembly.heat import HeatDocument
from explorer.errors import NotAnswerable
from explorer.model.measurements import Samples
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.queries.run_facts import heat_of


def _find(subject: Subject) -> HeatDocument:
    """Join the samples of a run with the lines of a compilation.

    Raises:
        NotFound: the run has no samples (yet).
        NotAnswerable: the compilation has no SASS.
    """
    compilation = subject.records[1]
    assert compilation is not None
    samples = msgspec.json.decode(subject.record.measurement("samples"), type=Samples)
    document = heat_of(samples, compilation)
    if document is None:
        raise NotAnswerable("The compilation has no SASS, so that samples cannot be assigned to its lines.")
    return document


QUERY = Query(
    name="heat",
    about="run",
    needs_compilation=True,
    summary="Samples of the program counter: by instruction, by source line and by line of the other stages.",
    version=2,
    document=HeatDocument,
    find=_find,
    saved=nothing_saved,
)
