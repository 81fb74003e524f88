"""The queries about two compilations: the differences in their requests, sources, stages, passes and
resources.

For a part that only one of the two has, the other side is null. The comparison does not count the lines that
passes changed: counting takes longer than the rest, and the index of each compilation has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from explorer.analysis.assembly.operations import operation_kinds
from explorer.analysis.diff.stable import without_unstable
from explorer.analysis.occupancy.theoretical import occupancy_of
from explorer.analysis.pass_matching import Effect, How, PassFacts, match_passes
from explorer.documents import ResourcesDocument, TargetDocument
from explorer.model import Argument, Edits, Request, Scalar
from explorer.model.hardware import find_target
from explorer.model.languages import find_language
from explorer.model.metrics import Verdict, find_metric
from explorer.pipeline.stages import STAGES
from explorer.queries.line_diff import DiffDocument
from explorer.queries.pass_language import pass_language
from explorer.queries.query import Parameter, Query, Subject, nothing_saved
from explorer.store import PassEntry, Record, Status
from explorer.store.address import digest_of

_ORDER = {stage.name: position for position, stage in enumerate(STAGES)}


class SideDocument(msgspec.Struct, frozen=True):
    """One of the two compilations, in brief.

    `error` is the message of its first error. `kernels_found` is the number of kernels that `torch.compile`
    writes for it; 0: none, or it is not known.
    """

    id: str
    url: str
    status: Status
    kernel: str | None
    target: TargetDocument
    triton: str
    milliseconds: float | None
    error: str | None
    kernels_found: int


class DifferenceDocument(msgspec.Struct, frozen=True):
    """A part of the requests that differs; null where one side does not have it."""

    name: str
    before: Scalar
    after: Scalar


class StageSideDocument(msgspec.Struct, frozen=True):
    """A stage of one side: the number of its compiler passes, and of the passes that changed the module."""

    lines: int
    bytes: int
    milliseconds: float
    passes: int
    changed_passes: int


class StagePairDocument(msgspec.Struct, frozen=True):
    """A stage on both sides, and how many lines and operations only one side has.

    `url` is the address of the diff.
    """

    name: str
    title: str
    language: str
    before: StageSideDocument | None
    after: StageSideDocument | None
    lines_added: int
    lines_removed: int
    operations_added: int
    operations_removed: int
    operations_moved: int
    url: str


class PassSideDocument(msgspec.Struct, frozen=True):
    """A compiler pass of one side."""

    index: int
    changed: bool
    milliseconds: float
    options: tuple[Scalar, ...]


class PassPairDocument(msgspec.Struct, frozen=True):
    """A compiler pass of both pipelines, or of one of them.

    `match` says how the two belong together: the passes have the same name at the same place of the order,
    the same name at another place ("moved"), or a different name and the same effect ("renamed"). `stage`,
    `name` and `title` come from `before`, or else from `after`; `renamed` is the name in `after` if it
    differs.
    """

    stage: str
    name: str
    title: str
    before: PassSideDocument | None
    after: PassSideDocument | None
    match: How
    renamed: str


class ResourceDocument(msgspec.Struct, frozen=True):
    """A resource that the binaries need, and whether `after` needs a better amount."""

    name: str
    before: Scalar
    after: Scalar
    verdict: Verdict


class SourcePairDocument(msgspec.Struct, frozen=True):
    """How many lines of the sources only one side has. `url` is the address of the diff."""

    lines_added: int
    lines_removed: int
    url: str


class ComparisonDocument(msgspec.Struct, frozen=True):
    """Two compilations, aligned."""

    before: SideDocument
    after: SideDocument
    differences: list[DifferenceDocument]
    source: SourcePairDocument
    stages: list[StagePairDocument]
    passes: list[PassPairDocument]
    resources: list[ResourceDocument]


def compare(before: Record, after: Record) -> ComparisonDocument:
    """Align two compilations."""
    source = source_diff(before, after)
    url = f"/api/v1/compilations/{before.id}/compare/{after.id}"
    return ComparisonDocument(
        before=_side(before),
        after=_side(after),
        differences=differences(before, after),
        source=SourcePairDocument(source.lines_added, source.lines_removed, f"{url}/source"),
        stages=[_stage_pair(before, after, name, url) for name in _stage_names(before, after)],
        passes=pass_pairs(before, after),
        resources=list(_resources(before, after)),
    )


def comparison_parts(
    before: Record, after: Record
) -> tuple[list[DifferenceDocument], list[ResourceDocument]]:
    """Return the differences that need no text of a stage: in the requests, and all resources."""
    return differences(before, after), list(_resources(before, after))


def differences(before: Record, after: Record) -> list[DifferenceDocument]:
    """Return the parts of the requests that differ, except for the source."""
    old, new = _decisions(before), _decisions(after)
    return [
        DifferenceDocument(name, old.get(name), new.get(name))
        for name in old | new
        if old.get(name) != new.get(name)
    ]


def source_diff(before: Record, after: Record) -> DiffDocument:
    return DiffDocument.of(before.request.source, after.request.source, "none")


def stage_diff(before: Record, after: Record, name: str, other: str | None = None) -> DiffDocument:
    """Compare stage `name` of `before` with stage `other` of `after`, by default the same.

    The name of a module after a pass is allowed, too. A stage that a side does not have is empty there.

    Raises:
        NotFound: neither side has the stage.
    """
    sides = _text(before, name), _text(after, other or name)
    if not any(language for _, language in sides):
        before.stage(name)
    (before_text, _), (after_text, _) = sides
    before_stable, after_stable = (without_unstable(*side) for side in sides)
    languages = {language for _, language in sides if language}
    allowed = {find_language(name).renaming for name in languages}
    return DiffDocument.of(
        before_text,
        after_text,
        allowed.pop() if len(allowed) == 1 else "none",
        max(languages),
        stable=(before_stable, after_stable),
    )


def module_name(index: int) -> str:
    """Return the name of the module after a pass."""
    return f"pass-{index}"


def _text(record: Record, name: str) -> tuple[str, str]:
    """Return the text of a stage, or the module after a pass, and its language; empty: there is none."""
    stage = record.result.stages.get(name)
    if stage is not None:
        return record.text(stage.text), stage.language
    index = next((each for each in record.result.passes if module_name(each) == name), None)
    return ("", "") if index is None else (record.text_after_pass(index), pass_language(record, index))


def _side(record: Record) -> SideDocument:
    result, request = record.result, record.request
    code = result.inspection.output_code if result.inspection else None
    return SideDocument(
        id=record.id,
        url=f"/k/{record.id}",
        status=record.status,
        kernel=record.kernel,
        target=TargetDocument.of(find_target(request.target)),
        triton=request.triton,
        milliseconds=result.done.milliseconds if result.done else None,
        error=next(iter(result.error_messages), None),
        kernels_found=len(code.kernels) if code else 0,
    )


# --- requests -----------------------------------------------------------------------------------


def _decisions(record: Record) -> dict[str, Scalar]:
    """Return all parts of a request but the source, by name: as compiled, or else as requested."""
    request, specialized = record.request, record.result.specialized
    decisions: dict[str, Scalar] = {
        "kernel": record.kernel,
        "target": request.target,
        "triton": request.triton,
        "config": specialized.config if specialized else request.config,
    }
    if specialized and specialized.grid:
        decisions["grid"] = " × ".join(map(str, specialized.grid))
    options = specialized.options if specialized else request.options
    decisions |= {name: options[name] for name in sorted(options)}
    decisions |= _edits(request.edits or Edits())
    return decisions | {argument.name: _argument(argument) for argument in _arguments(request, record)}


def _edits(edits: Edits) -> dict[str, Scalar]:
    """Return the edits of stages and passes. An edited text is named by its digest."""
    kind = next((kind for kind in STAGES if kind.name == edits.stage), None)
    title = kind.title if kind else edits.stage
    stage: dict[str, Scalar] = (
        {title: f"edited ({digest_of(edits.text.encode('utf-8', 'replace'))[:8]})"} if title else {}
    )
    without: dict[str, Scalar] = {f"pass {name}": "left out" for name in edits.without_passes}
    options = {
        f"{name}: {option}": value
        for name, chosen in edits.pass_options.items()
        for option, value in chosen.items()
    }
    return {**stage, **without, **options}


def _arguments(request: Request, record: Record) -> tuple[Argument, ...]:
    if record.result.specialized:
        return record.result.specialized.arguments
    return request.arguments if isinstance(request.arguments, tuple) else ()


def _argument(argument: Argument) -> Scalar:
    if argument.type == "constexpr":
        return argument.value
    words = [argument.type, argument.specialization]
    if argument.shape is not None:
        words.append(f"[{', '.join(map(str, argument.shape))}]")
    return ", ".join(filter(None, words))


# --- results ------------------------------------------------------------------------------------


def _stage_names(before: Record, after: Record) -> list[str]:
    names = before.result.stages | after.result.stages
    return sorted(names, key=lambda name: _ORDER.get(name, len(_ORDER)))


def _stage_pair(before: Record, after: Record, name: str, url: str) -> StagePairDocument:
    diff = stage_diff(before, after, name)
    stage = (before.result.stages | after.result.stages)[name]
    return StagePairDocument(
        name=name,
        title=stage.title,
        language=stage.language,
        before=_stage_side(before, name),
        after=_stage_side(after, name),
        lines_added=diff.lines_added,
        lines_removed=diff.lines_removed,
        operations_added=diff.operations_added,
        operations_removed=diff.operations_removed,
        operations_moved=diff.operations_moved,
        url=f"{url}/stages/{name}",
    )


def _stage_side(record: Record, name: str) -> StageSideDocument | None:
    stage = record.result.stages.get(name)
    if stage is None:
        return None
    passes = [entry for entry in record.result.passes.values() if entry.stage == name]
    changed = sum(entry.changed for entry in passes)
    return StageSideDocument(stage.lines, stage.bytes, stage.milliseconds, len(passes), changed)


def pass_pairs(before: Record, after: Record) -> list[PassPairDocument]:
    """Pair the passes of two pipelines by their names, order and effects, in the order of `before`."""
    old, new = (
        [record.result.passes[index] for index in sorted(record.result.passes)] for record in (before, after)
    )
    matches = match_passes(_pass_facts(before, old, new), _pass_facts(after, new, old))
    return [
        PassPairDocument(
            entry.stage,
            entry.name,
            entry.title,
            _pass_side(one),
            _pass_side(other),
            match.how,
            other.name if one and other and one.name != other.name else "",
        )
        for match in matches
        for one, other in [
            (
                None if match.before is None else old[match.before],
                None if match.after is None else new[match.after],
            )
        ]
        for entry in [one or other]
        if entry is not None
    ]


def _pass_facts(record: Record, entries: list[PassEntry], others: list[PassEntry]) -> list[PassFacts]:
    """Return the properties by which passes are matched.

    Effects are slow to compute, so they are left out of passes that occur once in both pipelines.
    """
    mine, theirs = (Counter((each.stage, each.name) for each in side) for side in (entries, others))
    facts: list[PassFacts] = []
    before: Counter[str] | None = None
    text = ""
    for entry in entries:
        key = entry.stage, entry.name
        effect: Effect = ()
        if entry.text is not None:
            if mine[key] != 1 or theirs[key] != 1:
                before = _kinds(text, record) if before is None else before
                after = _kinds(record.text(entry.text), record)
                effect = tuple(sorted({kind: after[kind] - before[kind] for kind in after | before}.items()))
                effect = tuple((kind, count) for kind, count in effect if count)
                before = after
            else:
                before = None
            text = record.text(entry.text)
        facts.append(PassFacts(entry.stage, entry.name, entry.changed, effect))
    return facts


def _kinds(text: str, record: Record) -> Counter[str]:
    """Count the operations of a module by kind."""
    language = "llir" if record.request.task == "llvm-passes" else "mlir-llvm"
    return Counter(operation_kinds(text, language))


def _pass_side(entry: PassEntry | None) -> PassSideDocument | None:
    if entry is None:
        return None
    return PassSideDocument(entry.index, entry.changed, entry.milliseconds, entry.options)


def _resources(before: Record, after: Record) -> Iterable[ResourceDocument]:
    old, new = _needs(before), _needs(after)
    vendors = {find_target(each.request.target).vendor for each in (before, after)}
    for name in old | new:
        values = old.get(name), new.get(name)
        if values != (None, None):
            yield ResourceDocument(name, *values, _verdict(name, *values, is_comparable=len(vendors) == 1))


def _needs(record: Record) -> dict[str, Any]:
    resources = record.result.resources
    if resources is None:
        return {}
    needs = msgspec.structs.asdict(ResourcesDocument.of(resources, record.request.target))
    fitting = occupancy_of(resources, record.request.target)
    return needs | {"resident_blocks": fitting.blocks_per_multiprocessor if fitting else None}


def _verdict(name: str, before: Any, after: Any, *, is_comparable: bool) -> Verdict:
    """Compare a resource. A resource that is not a metric, such as the number of threads, is a choice.

    The resources of different vendors are not comparable: a register of NVIDIA is not a register of AMD.
    """
    metric = find_metric(name)
    if metric is not None and is_comparable:
        return metric.verdict(before, after)
    return "same" if before == after else "different"


def _find_comparison(subject: Subject) -> ComparisonDocument:
    return compare(*subject.pair)


def _find_stage_diff(subject: Subject) -> DiffDocument:
    parameters = subject.parameters
    return stage_diff(*subject.pair, parameters.get("name", "ttgir"), parameters.get("other"))


def _find_source_diff(subject: Subject) -> DiffDocument:
    return source_diff(*subject.pair)


COMPARISON = Query(
    name="comparison",
    about="pair",
    path="",
    summary="Compare two compilations: requests, stages, compiler passes, resources.",
    version=5,
    document=ComparisonDocument,
    find=_find_comparison,
    saved=nothing_saved,
)
STAGE_DIFF = Query(
    name="stage_diff",
    about="pair",
    path="/stages/<name>",
    summary="Compare a stage of two compilations, or two stages of one or two compilations.",
    version=2,
    document=DiffDocument,
    find=_find_stage_diff,
    parameters=(
        Parameter("name", str, "The stage of the first compilation, or `pass-3`: the module after pass 3."),
        Parameter("other", str, "The stage of the second compilation, if it is a different stage."),
    ),
    saved=nothing_saved,
)
SOURCE_DIFF = Query(
    name="source_diff",
    about="pair",
    path="/source",
    summary="Compare the sources of two compilations.",
    version=2,
    document=DiffDocument,
    find=_find_source_diff,
    saved=nothing_saved,
)
