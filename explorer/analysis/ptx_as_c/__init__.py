"""PTX as C: the same kernel in a form that is quicker to read. A reading aid, not a compiler.

In: the text of PTX, and the names that the compiler reports. Out: lines of C, each with its lines of PTX.
"""

from explorer.analysis.ptx_as_c.names import identifiers_in, read_names
from explorer.analysis.ptx_as_c.translate import Names, VerbatimInstruction, translate

__all__ = [
    "Names",
    "VerbatimInstruction",
    "identifiers_in",
    "read_names",
    "translate",
]
