"""The queries about the changes of one compiler pass: line by line, and as a unified diff."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from explorer.analysis.diff import unified_diff
from explorer.queries.line_diff import DiffDocument, compared
from explorer.queries.pass_language import pass_language
from explorer.queries.query import Answer, Parameter, Query, Subject, nothing_saved
from explorer.store import Record

_INDEX = Parameter("index", int, "Index of the pass (0 when left out).")


def _texts(subject: Subject) -> tuple[str, str]:
    """Return the module before and after the pass.

    Raises:
        NotFound: the compilation does not have this pass (yet).
    """
    index = int(subject.parameters.get("index", "0"))
    return subject.record.text_before_pass(index), subject.record.text_after_pass(index)


def _find_alignment(subject: Subject) -> DiffDocument:
    index = int(subject.parameters.get("index", "0"))
    return compared(*_texts(subject), "values", pass_language(subject.record, index))


def _find_diff(subject: Subject) -> str:
    return unified_diff(*_texts(subject))


def _every_pass(record: Record, _answer: Answer) -> Iterable[Mapping[str, str]]:
    return ({"index": str(index)} for index in record.result.passes)


PASS_ALIGNMENT = Query(
    name="pass_alignment",
    path="/passes/<int:index>/alignment",
    summary="Align the module before and after a pass: equal lines, changed lines, moved lines.",
    version=2,
    document=DiffDocument,
    find=_find_alignment,
    parameters=(_INDEX,),
    saved=_every_pass,
)
PASS_DIFF = Query(
    name="pass_diff",
    path="/passes/<int:index>/diff",
    summary="Show the changes of a pass as a unified diff. A renamed SSA value is no change.",
    version=2,
    document="text/plain",
    find=_find_diff,
    parameters=(_INDEX,),
    saved=nothing_saved,
)
