"""The graph of a stage."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="graph",
    title="Graph",
    summary="Control flow of LLVM IR, PTX and machine code, data flow of TTIR and TTGIR.",
)
