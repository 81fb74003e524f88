"""PTX as C."""

from explorer.views.panes.pane import Pane

PANE = Pane(
    name="ptx_as_c",
    title="PTX as C",
    summary="PTX in a form that is quicker to read, with names of the source.",
)
