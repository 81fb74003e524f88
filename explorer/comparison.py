"""Two compilations, aligned: what was asked differently, and what became different of it.

In: two records. Out: structures that become JSON as they are. A part that only one of the two has stands
alone; its other side is null. How many lines a pass has changed is in the index of each of the two: to count
them takes longer than all that is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec

from explorer.analysis.diff import Alignment, Move, Run, aligned_runs
from explorer.documents import ResourcesDocument, TargetDocument
from explorer.model import Argument, Request, Scalar
from explorer.pipeline.stages import STAGES
from explorer.pipeline.targets import find_target
from explorer.store import PassEntry, Record, StageEntry, Status

Verdict = Literal["same", "better", "worse", "different"]

#: Which way a resource gets better, where there is one; the others are choices, neither good nor bad.
_BETTER_LOWER = {
    "registers", "scalar_registers", "spill_stores_bytes", "spill_loads_bytes", "stack_bytes", "shared_bytes",
    "tensor_memory_columns", "global_scratch_bytes", "constant_bytes", "barriers",
}  # fmt: skip
_BETTER_HIGHER = {"occupancy"}
_ORDER = {stage.name: position for position, stage in enumerate(STAGES)}

_ADDRESS = re.compile(r"/\*[0-9a-f]{4,}\*/")
#: %rd12 of PTX, %.frozen12 of LLVM IR: names that were told apart by a number.
_NUMBERED_NAME = re.compile(r"%([\w.$-]*[A-Za-z.$-])(\d+)(?![\w.$-])")


class SideDocument(msgspec.Struct, frozen=True):
    """One of the two compilations, in brief. `error` is the first thing that went wrong."""

    id: str
    url: str
    status: Status
    kernel: str | None
    target: TargetDocument
    triton: str
    milliseconds: float | None
    error: str | None


class DifferenceDocument(msgspec.Struct, frozen=True):
    """Something that was asked differently; null where one side does not have it."""

    name: str
    before: Scalar
    after: Scalar


class StageSideDocument(msgspec.Struct, frozen=True):
    """A stage of one side. `passes` lead to it, `changed_passes` of them have changed something."""

    lines: int
    bytes: int
    milliseconds: float
    passes: int
    changed_passes: int


class StagePairDocument(msgspec.Struct, frozen=True):
    """A stage on both sides, and the lines that only one side has. `url` has where these are."""

    name: str
    title: str
    language: str
    before: StageSideDocument | None
    after: StageSideDocument | None
    lines_added: int
    lines_removed: int
    url: str


class PassSideDocument(msgspec.Struct, frozen=True):
    """A compiler pass of one side."""

    index: int
    changed: bool
    milliseconds: float
    options: tuple[Scalar, ...]


class PassPairDocument(msgspec.Struct, frozen=True):
    """A compiler pass that runs on both sides at the same place of the pipeline, or on one of them."""

    stage: str
    name: str
    title: str
    before: PassSideDocument | None
    after: PassSideDocument | None


class ResourceDocument(msgspec.Struct, frozen=True):
    """A need of the binary on both sides, and whether that of `after` is better."""

    name: str
    before: Scalar
    after: Scalar
    verdict: Verdict


class SourcePairDocument(msgspec.Struct, frozen=True):
    """The lines of the sources that only one side has."""

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


class RunDocument(msgspec.Struct, frozen=True):
    """Neighbouring lines that are the same on both sides, or not. Lines are counted from 1."""

    before_line: int
    before_lines: int
    after_line: int
    after_lines: int
    same: bool


class MoveDocument(msgspec.Struct, frozen=True):
    """A line that was only moved: removed in one place and added in another. Lines are counted from 1."""

    before_line: int
    after_line: int


class DiffDocument(msgspec.Struct, frozen=True):
    """Two texts, whole and in order, as runs of lines. A value that was only renumbered is no change."""

    lines_added: int
    lines_removed: int
    runs: list[RunDocument]
    moves: list[MoveDocument]

    @classmethod
    def of(cls, before: str, after: str, *, exact: bool = False) -> DiffDocument:
        return cls._of_runs(aligned_runs(before, after, exact=exact), [])

    @classmethod
    def with_moves(cls, before: str, after: str) -> DiffDocument:
        """The same, and which lines were only moved."""
        alignment = Alignment(before, after)
        return cls._of_runs(alignment.runs, alignment.moves)

    @classmethod
    def _of_runs(cls, runs: list[Run], moves: list[Move]) -> DiffDocument:
        return cls(
            sum(len(run.after) for run in runs if not run.same),
            sum(len(run.before) for run in runs if not run.same),
            [
                RunDocument(
                    run.before.start + 1, len(run.before), run.after.start + 1, len(run.after), run.same
                )
                for run in runs
            ],
            [MoveDocument(move.before + 1, move.after + 1) for move in moves],
        )


def compare(before: Record, after: Record, url: str) -> ComparisonDocument:
    """Align two compilations; `url` is where the comparison itself is, the address of its parts below it."""
    source = source_diff(before, after)
    return ComparisonDocument(
        before=_side(before),
        after=_side(after),
        differences=differences(before, after),
        source=SourcePairDocument(source.lines_added, source.lines_removed, f"{url}/source"),
        stages=[_stage_pair(before, after, name, url) for name in _stage_names(before, after)],
        passes=_pass_pairs(before, after),
        resources=list(_resources(before, after)),
    )


def differences(before: Record, after: Record) -> list[DifferenceDocument]:
    """What was asked differently, beside the source."""
    old, new = _asked(before), _asked(after)
    return [
        DifferenceDocument(name, old.get(name), new.get(name))
        for name in old | new
        if old.get(name) != new.get(name)
    ]


def source_diff(before: Record, after: Record) -> DiffDocument:
    """Where the sources differ."""
    return DiffDocument.of(before.request.source, after.request.source, exact=True)


def stage_diff(before: Record, after: Record, name: str, other: str | None = None) -> DiffDocument:
    """Where stage `name` of `before` differs from stage `other` of `after`, by default the same.

    A stage that a side does not have is empty there.

    Raises:
        NotFound: neither side has it.
    """
    other = other or name
    sides = ((before, before.result.stages.get(name)), (after, after.result.stages.get(other)))
    if all(stage is None for _, stage in sides):
        before.stage(name)
    texts = ["" if stage is None else _text(record, stage) for record, stage in sides]
    # The numbers in a tree of Python are its values; nothing there is ever renumbered.
    return DiffDocument.of(*texts, exact="ast" in (name, other))


def _text(record: Record, stage: StageEntry) -> str:
    """The text without what moves when anything before it does: addresses, numbers of values."""
    text = record.text(stage.text)
    if stage.language == "sass":
        return _ADDRESS.sub("", text)
    return _NUMBERED_NAME.sub(r"%\1_\2", text) if stage.language in ("ptx", "llir") else text


def _side(record: Record) -> SideDocument:
    result, request = record.result, record.request
    return SideDocument(
        id=record.id,
        url=f"/k/{record.id}",
        status=record.status,
        kernel=record.kernel,
        target=TargetDocument.of(find_target(request.target)),
        triton=request.triton,
        milliseconds=result.done.milliseconds if result.done else None,
        error=next((each.message for each in result.diagnostics if each.severity == "error"), None),
    )


# --- what was asked -----------------------------------------------------------------------------


def _asked(record: Record) -> dict[str, Scalar]:
    """Everything that was decided beside the source, by name: as compiled, or as far as it was asked."""
    request, specialized = record.request, record.result.specialized
    asked: dict[str, Scalar] = {
        "kernel": record.kernel,
        "target": request.target,
        "triton": request.triton,
        "config": specialized.config if specialized else request.config,
    }
    if specialized and specialized.grid:
        asked["grid"] = " × ".join(map(str, specialized.grid))
    options = specialized.options if specialized else request.options
    asked |= {name: options[name] for name in sorted(options)}
    return asked | {argument.name: _argument(argument) for argument in _arguments(request, record)}


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


# --- what became of it --------------------------------------------------------------------------


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
        url=f"{url}/stages/{name}",
    )


def _stage_side(record: Record, name: str) -> StageSideDocument | None:
    stage = record.result.stages.get(name)
    if stage is None:
        return None
    passes = [entry for entry in record.result.passes.values() if entry.stage == name]
    changed = sum(entry.changed for entry in passes)
    return StageSideDocument(stage.lines, stage.bytes, stage.milliseconds, len(passes), changed)


def _pass_pairs(before: Record, after: Record) -> list[PassPairDocument]:
    """Align the pipelines by the names of their passes, as texts are aligned by their lines."""
    old = [entry for _, entry in sorted(before.result.passes.items())]
    new = [entry for _, entry in sorted(after.result.passes.items())]
    old_names, new_names = ([(entry.stage, entry.name) for entry in entries] for entries in (old, new))
    pairs: list[PassPairDocument] = []
    for kind, i, i_end, j, j_end in SequenceMatcher(None, old_names, new_names, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs.extend(_pass_pair(*both) for both in zip(old[i:i_end], new[j:j_end], strict=True))
        else:
            pairs.extend(_pass_pair(one, None) for one in old[i:i_end])
            pairs.extend(_pass_pair(None, other) for other in new[j:j_end])
    return pairs


def _pass_pair(before: PassEntry | None, after: PassEntry | None) -> PassPairDocument:
    entry = before or after
    assert entry is not None
    return PassPairDocument(entry.stage, entry.name, entry.title, _pass_side(before), _pass_side(after))


def _pass_side(entry: PassEntry | None) -> PassSideDocument | None:
    if entry is None:
        return None
    return PassSideDocument(entry.index, entry.changed, entry.milliseconds, entry.options)


def _resources(before: Record, after: Record) -> Iterable[ResourceDocument]:
    old, new = _needs(before), _needs(after)
    for name in old | new:
        values = old.get(name), new.get(name)
        if values != (None, None):
            yield ResourceDocument(name, *values, _verdict(name, *values))


def _needs(record: Record) -> dict[str, Any]:
    resources = record.result.resources
    if resources is None:
        return {}
    return msgspec.structs.asdict(ResourcesDocument.of(resources, record.request.target))


def _verdict(name: str, before: Any, after: Any) -> Verdict:
    if before == after:
        return "same"
    if None in (before, after) or name not in _BETTER_LOWER | _BETTER_HIGHER:
        return "different"
    return "better" if (after < before) == (name in _BETTER_LOWER) else "worse"
