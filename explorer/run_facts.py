"""What is known of a run, for its roofline: its documents, and what its compilation says.

In: the record of a run, and that of the compilation of the same kernel, if there is one. Out: `Facts`.
"""

from __future__ import annotations

import re

from explorer.analyses.stage_lines import source_lines
from explorer.analysis.heat import HeatDocument, heat
from explorer.analysis.instruction_mix import purpose_of_amdgcn, purpose_of_sass
from explorer.analysis.roofline.facts import Facts
from explorer.analysis.static_work import StaticWork, static_work
from explorer.measurements import (
    Counters,
    Counts,
    Environment,
    LaunchFacts,
    Roofs,
    Samples,
    Timings,
)
from explorer.pipeline.targets import find_target
from explorer.run_documents import binary_match
from explorer.store import Record

#: What stands before an instruction of assembly: blanks, control bits and the offset.
_PREFIX = re.compile(r"^(?:.*/\*[0-9a-f]{4,}\*/)?\s*")
#: Programs with more text than this are not worth the time to follow.
_MOST_TTIR_BYTES = 1_000_000
_MOST_SASS_BYTES = 16_000_000


def facts_of(run: Record, compilation: Record | None, roofs: Roofs | None = None) -> Facts:
    """Collect them. A compilation whose binary is another one tells nothing of this run's resources.

    `roofs` are those of the GPU, for a run that has measured none itself.
    """
    environment = run.measured("environment", Environment)
    launch = run.measured("launch", LaunchFacts)
    counters = run.measured("counters", Counters)
    counts = run.measured("counts", Counts)
    samples = run.measured("samples", Samples)
    compiled = compilation if compilation and compilation.is_finished else None
    joined = heat_of(samples, compiled) if samples and compiled else None
    same = compiled if compiled and _is_same(run, compiled, joined) else None
    specialized = compiled.result.specialized if compiled else None
    blocks = specialized.options.get("num_ctas") if specialized else None
    is_counted = (counters is not None and bool(counters.operations)) or counts is not None
    return Facts(
        target=find_target(run.request.target),
        environment=environment,
        launch=launch,
        timings=run.measured("timings", Timings),
        counters=counters,
        counts=counts,
        samples=samples,
        roofs=run.measured("roofs", Roofs) or roofs,
        resources=same.result.resources if same else None,
        static=_static(compiled, launch) if compiled and launch and not is_counted else None,
        heat=joined,
        tensor_instructions=_uses_matrix_units(same) if same else None,
        blocks_per_program=blocks if isinstance(blocks, int) else 1,
        failure=_failure(run),
        source_lines=tuple(compiled.request.source.splitlines()) if compiled else (),
    )


def _failure(run: Record) -> str:
    errors = (each.message for each in run.result.diagnostics if each.severity == "error")
    return next(errors, "") if run.status == "failed" else ""


def heat_of(samples: Samples, compilation: Record) -> HeatDocument | None:
    """The samples on the lines of a compilation; None: it has no machine code to put them on."""
    stages = compilation.result.stages
    sass = stages.get("sass")
    if sass is None or sass.bytes > _MOST_SASS_BYTES:
        return None
    return heat(
        samples,
        compilation.kernel or "",
        compilation.text(sass.text),
        source_lines(compilation, sass),
        {
            stage.name: (stage.language, compilation.text(stage.text), source_lines(compilation, stage))
            for stage in stages.values()
            if stage is not sass
        },
    )


def _is_same(run: Record, compiled: Record, joined: HeatDocument | None) -> bool:
    """Whether the machine code is that which ran: the same binary, or the same instructions all along."""
    if joined and not joined.reason and not joined.unplaced:
        return True
    return binary_match(run, compiled) != "other"


def _static(compilation: Record, launch: LaunchFacts) -> StaticWork | None:
    stage = compilation.result.stages.get("ttir")
    if stage is None or stage.bytes > _MOST_TTIR_BYTES:
        return None
    scalars = {
        each.name: each.value
        for each in launch.arguments
        if isinstance(each.value, int) and not isinstance(each.value, bool)
    }
    try:
        return static_work(compilation.text(stage.text), compilation.kernel or "", launch.grid, scalars)
    except RecursionError:
        return StaticWork("Its TTIR is nested too deeply.")


def _uses_matrix_units(compilation: Record) -> bool | None:
    for stage in compilation.result.stages.values():
        if stage.language in ("sass", "amdgcn") and stage.bytes <= _MOST_SASS_BYTES:
            purpose = purpose_of_sass if stage.language == "sass" else purpose_of_amdgcn
            lines = compilation.text(stage.text).splitlines()
            return any(purpose(_PREFIX.sub("", line)).kind == "tensor" for line in lines)
    return None
