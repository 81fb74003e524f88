"""The facts about a run that its roofline is computed from.

In: the record of a run, and the record of the compilation of the same kernel, if there is one. Out: `Facts`.
"""

from __future__ import annotations

from explorer.analysis.assembly.heat import HeatDocument, heat
from explorer.analysis.assembly.instruction_mix import uses_matrix_units
from explorer.analysis.roofline.facts import Facts, sets_loop_stages
from explorer.analysis.roofline.static_work import StaticWork, static_work
from explorer.model.hardware import find_target
from explorer.model.languages import find_language
from explorer.model.measurements import (
    Autotuning,
    Counters,
    Counts,
    Environment,
    LaunchFacts,
    Roofs,
    Samples,
    Sweep,
    Timings,
)
from explorer.queries.stage_lines import source_lines
from explorer.runs.documents import binary_match
from explorer.store import Record

#: Longer programs are not followed, because that takes too long.
_MOST_TTIR_BYTES = 1_000_000
_MOST_SASS_BYTES = 16_000_000


def facts_of(
    run: Record,
    compilation: Record | None,
    roofs: Roofs | None = None,
    autotuning: Autotuning | None = None,
) -> Facts:
    """Collect the facts about a run. The resources of a compilation with a different binary are left out.

    `roofs` are the measured limits of the GPU, `autotuning` the times of the configurations of the launch.
    They are used if the run has not measured its own.
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
        static=_static(compiled, launch) if compiled and launch else None,
        heat=joined,
        tensor_instructions=_uses_matrix_units(same) if same else None,
        blocks_per_program=blocks if isinstance(blocks, int) else 1,
        stages=_stages(same) if same else None,
        autotuning=run.measured("autotuning", Autotuning) or autotuning,
        sweep=run.measured("sweep", Sweep),
        sizes=dict(run.request.run.sizes) if run.request.run else {},
        failure=_failure(run),
        source_lines=compiled.source_numbers.texts if compiled else (),
    )


def _stages(compilation: Record) -> int | None:
    """Return num_stages; None if it is unknown, or if a loop of the source sets a number."""
    specialized = compilation.result.specialized
    stages = specialized.options.get("num_stages") if specialized else None
    if not isinstance(stages, int) or isinstance(stages, bool):
        return None
    return None if sets_loop_stages(compilation.request.source) else stages


def _failure(run: Record) -> str:
    return next(iter(run.result.error_messages), "") if run.status == "failed" else ""


def heat_of(samples: Samples, compilation: Record) -> HeatDocument | None:
    """Join samples with the lines of a compilation; return None if it has no machine code."""
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
    """Return whether the machine code was run: the same binary, or the same instructions."""
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
        return static_work(
            compilation.text(stage.text),
            compilation.kernel or "",
            launch.grid,
            scalars,
            find_target(compilation.request.target),
        )
    except RecursionError:
        return StaticWork("Its TTIR is nested too deeply.")


def _uses_matrix_units(compilation: Record) -> bool | None:
    for stage in compilation.result.stages.values():
        if find_language(stage.language).purpose and stage.bytes <= _MOST_SASS_BYTES:
            return uses_matrix_units(compilation.text(stage.text), stage.language)
    return None
