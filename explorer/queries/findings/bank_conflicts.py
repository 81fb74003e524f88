"""Bank conflicts: lanes of a warp access different words of the same bank of shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.queries.findings.case import Case
from explorer.queries.findings.finding import Basis, Cost, Finding, Value
from explorer.queries.why_facts import code

TITLE = "Bank conflicts"


def find(case: Case) -> Iterator[Finding]:
    """Yield a finding for each access to shared memory with conflicts."""
    for each in case.layouts.shared_accesses:
        if not each.conflicts or not each.least_wavefronts:
            continue
        basis: Basis = "observed" if each.source == "compiler" else "modelled"
        wavefronts = each.least_wavefronts * (1 + each.conflicts)
        line = case.source_line(each.line)
        yield Finding(
            rule="bank_conflicts",
            severity="warning",
            text=f"{code(each.operation)} takes {wavefronts} wavefronts in place of "
            f"{each.least_wavefronts}, because lanes access the same bank.",
            evidence=(
                Value("wavefronts of an access", wavefronts, "", basis),
                Value("least wavefronts of an access", each.least_wavefronts, "", "modelled"),
            ),
            cause="The layout of the buffer in shared memory does not spread these elements over the banks.",
            source_line=line,
            ttgir_line=each.line,
            lines=case.machine_lines([line]),
            cost=Cost(1 - each.least_wavefronts / wavefronts, "wavefronts of the access", basis),
            tour="shared_memory",
            terms=("bank-conflict", "swizzle"),
        )
