"""The panes of the page, in the order of its menu.

A pane is a Python file here, which describes it, and `static/panes/<name>.js`, which draws it as the element
`<pane-<name>>`. To add a pane, add both and a line in `PANES`.
"""

from __future__ import annotations

from explorer.views.panes import (
    barrier_phases,
    compile_time,
    findings,
    graph,
    layouts,
    log,
    memory,
    passes,
    ptx_as_c,
    registers,
    resources,
    roofline,
    run,
    schedule,
    stage,
)
from explorer.views.panes.pane import Pane

PANES: tuple[Pane, ...] = (
    findings.PANE,
    stage.PANE,
    passes.PANE,
    schedule.PANE,
    barrier_phases.PANE,
    layouts.PANE,
    memory.PANE,
    registers.PANE,
    graph.PANE,
    ptx_as_c.PANE,
    run.PANE,
    roofline.PANE,
    resources.PANE,
    compile_time.PANE,
    log.PANE,
)
