"""The limits of a compiler's results: larger results are forged by user code.

The wall (`explorer.sandbox.protocol`) refuses larger results, and larger stored results are not shown. The
longest kernel of `bench/long_module.py` needs 43 MB and 230,000 lines for one module, and 0.2 MB for the
locations of a stage. LLVM has the most passes: some hundreds.
"""

MOST_STAGES = 32
MOST_PASSES = 2_000
#: One event, as a line of JSON.
MOST_EVENT_BYTES = 64 << 20
#: One text: a stage, or the module after a pass.
MOST_TEXT_BYTES = 60 << 20
MOST_TEXT_LINES = 1_000_000
#: A text with characters beyond U+00FF: Python keeps each of its characters in two or four bytes.
MOST_WIDE_TEXT_BYTES = 15 << 20
#: The events of all passes of a compilation. The stages have the rest of the space of a job.
MOST_SNAPSHOTS_BYTES = 128 << 20
#: The locations of the lines of a stage. While they are decoded, no other thread of the server runs.
MOST_LOCATION_BYTES = 4 << 20
#: Any other event without its texts, such as the launches of a script.
MOST_FIELD_BYTES = 8 << 20
#: The listed nodes of PyTorch's graph that one kernel computes, and each of their texts.
MOST_GRAPH_NODES = 1_000
MOST_GRAPH_NODE_CHARACTERS = 200
#: The kernels of a captured program.
MOST_CAPTURED_KERNELS = 5_000
#: The listed problems of a session: parts of a capture that could not be read.
MOST_PROBLEMS = 100
#: The launches of a captured kernel: JavaScript represents no larger integer exactly.
MOST_LAUNCHES = 2**53 - 1
#: One step of a compilation, in a program: eleven days.
MOST_STEP_MILLISECONDS = 1e9
#: The compilations of a matrix.
MOST_CELLS = 500
#: The changed lines of a configuration.
MOST_EDITS = 100
