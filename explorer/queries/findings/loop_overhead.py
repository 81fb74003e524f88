"""Overhead of loops: most instructions of a turn compute addresses and masks, not the matrix product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from explorer.analysis.assembly.matrix_loops import matrix_loops
from explorer.analysis.graphs import NothingToDraw
from explorer.analysis.mlir.wide_offsets import narrow_extensions, wide_offsets
from explorer.analysis.pass_roles import has_role
from explorer.errors import NotFound
from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.changes import line_changes, without_masks
from explorer.queries.findings.finding import Change, Cost, Finding, Value
from explorer.queries.stage_lines import source_lines
from explorer.queries.why_facts import listed_lines

TITLE = "Instructions of a loop beside its matrix instructions"
#: Loops of good kernels on sm_80, sm_90 and gfx942 have at most 63 % of these instructions.
_HIGH = 2 / 3
#: Measured on an H200: with a smaller share, offsets of 64 bits still make a loop slower.
_HIGH_IF_WIDE = 1 / 2
_MOST_LINES = 3


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each loop most of whose instructions are integer arithmetic or convert types.

    Accesses to local memory do not count: `spills` has a finding then.
    """
    stage = case.result.stages.get(case.machine_code)
    if stage is None:
        raise NotChecked("The compilation has no machine code.")
    try:
        loops = list(matrix_loops(case.record.text(stage.text), stage.language))
    except NothingToDraw as error:
        raise NotChecked(str(error)) from error
    sources = source_lines(case.record, stage)
    wide = _lines_with_wide_offsets(case) if loops else set()
    for each in loops:
        integers, conversions = each.lines("integer"), each.lines("conversion")
        matrix, total, others = len(each.lines("tensor")), len(each.instructions), [*integers, *conversions]
        lines = Counter(line for number in others if (line := sources[number - 1]))
        is_wide = not wide.isdisjoint(lines)
        if len(others) < total * (_HIGH_IF_WIDE if is_wide else _HIGH):
            continue
        most = sorted(line for line, _ in lines.most_common(_MOST_LINES))
        converted = f", and {len(conversions)} convert types" if conversions else ""
        yield Finding(
            rule="loop_overhead",
            severity="warning" if is_wide else "note",
            text=f"Each turn of the loop has {total} instructions: {matrix} are matrix instructions, "
            f"{len(integers)} compute integers, such as addresses and masks{converted}.",
            evidence=(
                Value("instructions of a turn", total, "", "observed"),
                Value("matrix instructions", matrix, "", "observed"),
                Value("integer instructions", len(integers), "", "observed"),
                Value("conversions of types", len(conversions), "", "observed"),
            ),
            cause=(f"Most of them come from {listed_lines(most)}." if most else "")
            + " Each turn computes offsets of loads in 64 bits." * is_wide,
            advice="Add the start of the tile to the pointer before the loop, in 64 bits, and compute the "
            "other offsets in 32 bits, if they fit."
            if is_wide
            else "",
            source_line=lines.most_common(1)[0][0] if lines else 0,
            lines=case.machine_lines(most),
            cost=Cost(len(others) / total, "instructions of a turn", "observed"),
            changes=(
                *(_narrow_offsets(case) if is_wide else ()),
                *without_masks(case, {sources[number - 1] for number, _ in each.instructions}),
            ),
            tour="machine_code",
            terms=("instruction-mix", "tensor-core"),
        )


def _narrow_offsets(case: Case) -> tuple[Change, ...]:
    """Propose offsets of 32 bits, if they fit in the launch."""
    if case.launch_values is None:
        return ()
    extensions = narrow_extensions(case.functions, *case.launch_values)
    edits = case.editable.without_64_bits({case.source_line(each) for each in extensions})
    return line_changes(edits, "offsets of 32 bits, which must fit in every launch")


def _lines_with_wide_offsets(case: Case) -> set[int]:
    """Return the source lines that compute offsets of 64 bits in a loop.

    Where a target has no copy engine, the compiler computes such offsets for tensor descriptors.
    """
    for index, each in case.result.passes.items():
        if has_role(each.name, "replace tensor descriptors"):
            try:
                before = case.record.text_before_pass(index)
            except NotFound:  # the module is too large
                return set()
            if "tt.descriptor_load" in before:
                return set()
    return {line for number in wide_offsets(case.functions) if (line := case.source_line(number))}
