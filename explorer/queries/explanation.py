"""The query that explains a difference: the pass after which two compilations differ, and its effect, in
words.

The answer puts the answers of `comparison` and `divergence` into words. It is an inference that the pass
causes different resources: the pass makes the first lasting difference, and later differences follow from it
or from the request. Between other targets or Triton versions, LLVM's passes differ, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from explorer.model import Scalar
from explorer.model.metrics import find_metric
from explorer.queries import divergence
from explorer.queries.comparison import (
    DifferenceDocument,
    PassPairDocument,
    ResourceDocument,
    comparison_parts,
)
from explorer.queries.divergence import DivergenceDocument
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.queries.why_facts import Basis, code, counted, listed
from explorer.store import Record

_MOST_KINDS = 5
_MOST_CHARACTERS = 240
#: How much of an operation is shown before the first difference.
_MOST_EQUAL = 160


class ExplanationFact(msgspec.Struct, frozen=True):
    """A statement about a difference. `show` is the fragment of the page of the comparison that shows it."""

    text: str
    basis: Basis
    show: str


class ExplanationDocument(msgspec.Struct, frozen=True):
    """Why two compilations differ, from the requests to the resources."""

    facts: list[ExplanationFact]


def _find(subject: Subject) -> ExplanationDocument:
    before, after = subject.pair
    document = msgspec.json.decode(subject.answer(divergence.QUERY, {}), type=DivergenceDocument)
    differences, resources = comparison_parts(before, after)
    facts = [
        *_requests(before, after, differences),
        *_parting(document),
        *_operations(document),
        *_effects(document, resources, is_one_compiler=_compiler(before) == _compiler(after)),
    ]
    return ExplanationDocument(facts)


def _requests(before: Record, after: Record, parts: list[DifferenceDocument]) -> Iterator[ExplanationFact]:
    if before.request.source != after.request.source:
        yield ExplanationFact("Their sources differ.", "observed", "source")
    if parts:
        names = listed(
            f"{code(each.name)} ({_value(each.before)}, then {_value(each.after)})" for each in parts
        )
        yield ExplanationFact(f"They were compiled with another {names}.", "observed", "")


def _parting(document: DivergenceDocument) -> Iterator[ExplanationFact]:
    last, first, stage = document.last_equal, document.first_different, document.stage
    if stage is None:
        yield ExplanationFact("All modules and texts have the same operations.", "observed", "")
        return
    up_to = f"Up to {code(last.name)} their modules have the same operations. " if last else ""
    if first is None:
        text = f"{up_to}The first stage that differs is {stage}, after the last pass of both."
    elif not up_to and first.before and first.before.index == 0:
        text = (
            "Their first modules differ already: the source, or its specialization, makes other operations."
        )
    else:
        text = f"{up_to}{code(first.renamed or first.name)} parts them for good{_which(first)}."
    yield ExplanationFact(text, "observed", "passes" if first else f"stage={stage}")


def _which(pair: PassPairDocument) -> str:
    if pair.before is None:
        return ": only the second pipeline has it"
    return ": only the first pipeline has it" if pair.after is None else ""


def _operations(document: DivergenceDocument) -> Iterator[ExplanationFact]:
    show = f"stage={document.before_text}..{document.after_text}"
    for side, others, words in (("before", "after", "first"), ("after", "before", "second")):
        more = [each for each in document.kinds if getattr(each, side) > getattr(each, others)]
        more.sort(key=lambda each: getattr(each, others) - getattr(each, side))
        if more:
            names = listed(
                f"{getattr(each, side) - getattr(each, others)} more {code(each.name)}"
                for each in more[:_MOST_KINDS]
            )
            yield ExplanationFact(f"There, the {words} has {names}.", "observed", show)
    if document.added and document.removed and all(each.before == each.after for each in document.kinds):
        count = counted(document.operations_added, "operation")
        text = f"There, {count} of the same kinds differ in types or attributes{_example(document)}."
        yield ExplanationFact(text, "observed", show)


def _example(document: DivergenceDocument) -> str:
    """Return the first operations that differ as they are written, from shortly before the difference."""
    for lines in zip(document.removed, document.added, strict=False):
        if lines[0] != lines[1]:
            different = (place for place, (old, new) in enumerate(zip(*lines, strict=False)) if old != new)
            first = max(0, next(different, 0) - _MOST_EQUAL)
            shown = (("…" if first else "") + each[first:][:_MOST_CHARACTERS] for each in lines)
            return f": {' became '.join(map(code, shown))}"
    return ""


def _compiler(record: Record) -> tuple[str, str]:
    return record.request.triton, record.request.target


def _effects(
    document: DivergenceDocument, resources: list[ResourceDocument], *, is_one_compiler: bool
) -> Iterator[ExplanationFact]:
    """Yield the resources that differ. Between two compilers, the cause is not known."""
    changed = [each for each in resources if each.verdict != "same"]
    if not changed:
        if document.stage is not None and resources:
            yield ExplanationFact("Their binaries need the same resources.", "observed", "")
        return
    # Resources that are a choice, such as the number of threads, come last.
    changed.sort(key=lambda each: each.verdict == "different")
    names = listed(_change(each) for each in changed)
    if is_one_compiler:
        yield ExplanationFact(f"What follows in the binary: {names}.", "inferred", "")
    else:
        yield ExplanationFact(
            f"The binaries also differ, which other passes of LLVM may cause: {names}.",
            "observed",
            "",
        )


def _change(resource: ResourceDocument) -> str:
    metric = find_metric(resource.name)
    title = metric.title.lower() if metric else resource.name.replace("_", " ")
    verdict = f", {resource.verdict}" if resource.verdict in ("better", "worse") else ""
    return f"{title} {_value(resource.before)} → {_value(resource.after)}{verdict}"


def _value(value: Scalar) -> str:
    if value is None:
        return "none"
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


QUERY = Query(
    name="explanation",
    about="pair",
    path="/explanation",
    summary="Why two compilations differ, in words: the first pass that differs, operations and resources.",
    version=3,
    document=ExplanationDocument,
    find=_find,
    saved=nothing_saved,
)
