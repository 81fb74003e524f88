"""What can be found out about a compilation beyond its texts, when somebody looks at it.

An analysis is one file here and one line in `ANALYSES`; the API, the command line and the store learn it
from there. What it costs to find out is paid once: the answer is kept with the result.
"""

from __future__ import annotations

from explorer.analyses import (
    allocation,
    changes,
    fewer_stages,
    graph,
    layouts,
    lineage,
    occupancy,
    registers,
    tensor_registers,
)
from explorer.analyses.analysis import Analysis, Parameter, Subject
from explorer.analyses.analyst import Analyst

ANALYSES: tuple[Analysis, ...] = (
    allocation.ANALYSIS,
    changes.ANALYSIS,
    fewer_stages.ANALYSIS,
    graph.ANALYSIS,
    layouts.ANALYSIS,
    lineage.ANALYSIS,
    occupancy.ANALYSIS,
    registers.ANALYSIS,
    tensor_registers.ANALYSIS,
)

__all__ = ["ANALYSES", "Analysis", "Analyst", "Parameter", "Subject"]
