"""Pipelining: in each turn, a loop waits for its own loads, and few other warps hide the waiting."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case, NotChecked
from explorer.queries.findings.changes import loop_stages, stages
from explorer.queries.findings.finding import Finding, Value
from explorer.queries.findings.multiples import UNKNOWN, known_multiples
from explorer.queries.layout_accesses import AccessRow
from explorer.queries.schedule import ScheduledLoop
from explorer.queries.why_facts import counted

TITLE = "Loops that are not pipelined"
#: Measured on an H200: with more warps, other warps hide the waiting of a loop without a matrix product.
_FEW_WARPS = 0.25
#: The compiler starts no load ahead whose threads load fewer consecutive bytes.
_LEAST_BYTES = 4
_SHORT = f"The compiler starts no load ahead whose threads load fewer than {_LEAST_BYTES} consecutive bytes."
#: The name of the value that says what the loads that do not start ahead load.
WAITING_BYTES = "bytes of a turn that it waits for"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each innermost loop with loads of which none, or the smaller part, starts ahead."""
    innermost = [each for each in case.schedule.loops if each.is_innermost]
    for index, loop in enumerate(innermost):
        if not loop.loads or (loop.last_stage and 2 * loop.waiting_bytes <= loop.loaded_bytes):
            continue
        warps = None if loop.has_matrix_product else _resident_warps(case)
        if warps is not None and warps > _FEW_WARPS:
            continue
        ttgir_line = _ttgir_line(case, innermost, index)
        line = case.source_line(ttgir_line)
        stages_now = loop.num_stages if loop.num_stages is not None else case.schedule.num_stages
        short = _short_loads(case, ttgir_line)
        loads = "its load" if loop.loads == 1 else f"any of its {loop.loads:,} loads"
        text = f"The loop waits for its own loads: it does not start {loads} a turn ahead."
        if loop.last_stage:
            text = (
                f"The loop waits for {loop.waiting_loads:,} of its {counted(loop.loads, 'load')}: for "
                f"{loop.waiting_bytes:,} of the {counted(loop.loaded_bytes, 'byte')} that a turn loads."
            )
        yield Finding(
            rule="pipelining",
            severity="warning",
            text=text,
            evidence=(
                *(() if stages_now is None else (Value("num_stages", stages_now, "", "observed"),)),
                *((Value(WAITING_BYTES, loop.waiting_bytes, "B", "observed"),) if loop.waiting_bytes else ()),
                *(() if warps is None else (Value("warps that are there", warps, "%", "modelled"),)),
            ),
            cause=_SHORT if loop.last_stage and short else loop.reason,
            source_line=line,
            ttgir_line=ttgir_line,
            changes=()
            if loop.chained_loads == loop.loads
            else (
                *(stages(case, more=True) if stages_now is not None and stages_now <= 1 else ()),
                *known_multiples(case, _unknown(loop, short)),
                *(loop_stages(case, line) if loop.num_stages is None else ()),
            ),
            tour="pipelining",
            terms=("pipeline",),
        )


def _resident_warps(case: Case) -> float | None:
    """Return the share of a multiprocessor's warps that the launch fills; None: it is not known."""
    try:
        document = case.occupancy
    except NotChecked:
        return None
    blocks = float(document.occupancy.blocks_per_multiprocessor)
    if document.waves is not None and not case.has_guesses:
        blocks = min(blocks, document.waves.blocks / document.multiprocessors)
    return document.occupancy.share * blocks / max(1, document.occupancy.blocks_per_multiprocessor)


def _short_loads(case: Case, ttgir_line: int) -> list[AccessRow]:
    """Return the loads of a loop that cannot start ahead, because a thread loads too few bytes."""
    last = dict(case.loops).get(ttgir_line, 0)
    return [
        each
        for each in case.accesses
        if ttgir_line < each.line < last
        and each.operation.endswith("load")
        and each.lane_bytes is not None
        and each.lane_bytes < _LEAST_BYTES
    ]


def _unknown(loop: ScheduledLoop, loads: list[AccessRow]) -> list[AccessRow]:
    """Return the loads that could start ahead if the compiler knew more of their addresses."""
    if loop.num_stages is None and not loop.has_matrix_product:
        return []
    return [each for each in loads if set(each.limits) & {*UNKNOWN}]


def _ttgir_line(case: Case, innermost: list[ScheduledLoop], index: int) -> int:
    """Return the line of a loop in TTGIR: the loops keep their order; 0 if a later pass has copied one."""
    return case.loops[index][0] if len(case.loops) == len(innermost) else 0
