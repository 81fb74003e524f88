"""Autotuned kernels whose key leaves out a size: other sizes run with the configuration of the first."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.analysis.autotune_keys import left_out_keys
from explorer.queries.findings.case import Case
from explorer.queries.findings.changes import line_changes
from explorer.queries.findings.finding import Finding
from explorer.queries.why_facts import code, listed, listed_lines

TITLE = "Keys of autotuning"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding if an integer argument bounds the work, but is not in the key."""
    specialized, inspection = case.result.specialized, case.result.inspection
    if specialized is None or inspection is None:
        return
    kernel = next((each for each in inspection.kernels if each.name == specialized.kernel), None)
    if kernel is None or len(kernel.configs) < 2:
        return
    integers = [each.name for each in specialized.arguments if each.type in ("i32", "i64")]
    tuned = {name for each in kernel.configs for name in each.arguments}
    found = left_out_keys(case.editable, kernel.name, integers, tuned)
    if found is None:
        return
    names = listed(map(code, found.bounds))
    lines = sorted({line for each in found.bounds.values() for line in each})
    keys = f"for each {listed(map(code, found.keys))}" if found.keys else "once"
    yield Finding(
        rule="autotune_keys",
        severity="note",
        text=f"Autotuning picks one of {len(kernel.configs):,} configurations {keys}, but not for each "
        f"{names}, which bound{'s' if len(found.bounds) == 1 else ''} the work in "
        f"{listed_lines(lines)}.",
        cause=f"The key leaves out {names}, so that another value runs with the configuration that was the "
        "fastest for the first value.",
        advice=f"Add {names} to `key`, unless the fastest configuration is the same for all values.",
        source_line=found.line,
        changes=line_changes([found.edit], may_be_faster=False),
    )
