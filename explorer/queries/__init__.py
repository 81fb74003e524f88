"""The queries about stored results. Other modules ask them through `QueryService`.

A query is about a compilation, a run or a pair of compilations; see `Kind`. It is one file here and one line
in `QUERIES`: the API, the command line, the cache and saved files use this entry. Its answer is computed in a
process with limits, once for each version of the query, and cached in the store.
"""

from __future__ import annotations

from explorer.queries import (
    allocation,
    archive,
    barrier_phases,
    changes,
    claims,
    comparison,
    compile_time,
    divergence,
    explanation,
    fewer_stages,
    finding_changes,
    findings,
    graph,
    heat,
    layouts,
    lineage,
    metrics,
    occupancy,
    pass_diff,
    pass_search,
    ptx_as_c,
    registers,
    roofline,
    saved_answers,
    schedule,
    scoreboards,
    summary,
    tensor_registers,
    tour_step,
    why,
)
from explorer.queries.query import Kind, Parameter, Query, Subject
from explorer.queries.query_service import QueryService

QUERIES: tuple[Query, ...] = (
    allocation.QUERY,
    barrier_phases.QUERY,
    changes.QUERY,
    claims.QUERY,
    compile_time.QUERY,
    fewer_stages.QUERY,
    findings.QUERY,
    graph.QUERY,
    layouts.QUERY,
    lineage.QUERY,
    metrics.QUERY,
    occupancy.QUERY,
    pass_diff.PASS_ALIGNMENT,
    pass_diff.PASS_DIFF,
    pass_search.QUERY,
    ptx_as_c.QUERY,
    registers.QUERY,
    schedule.QUERY,
    schedule.LINES,
    scoreboards.QUERY,
    tensor_registers.QUERY,
    tour_step.QUERY,
    claims.RUN_QUERY,
    why.QUERY,
    heat.QUERY,
    roofline.QUERY,
    summary.QUERY,
    comparison.COMPARISON,
    comparison.STAGE_DIFF,
    comparison.SOURCE_DIFF,
    finding_changes.QUERY,
    divergence.QUERY,
    explanation.QUERY,
)

#: Queries whose answers are files, or parts of files or of other answers: they have no address in the API.
FILES: tuple[Query, ...] = (archive.QUERY, *saved_answers.PARTS, lineage.RECORDING)

__all__ = ["FILES", "QUERIES", "Kind", "Parameter", "Query", "QueryService", "Subject"]
