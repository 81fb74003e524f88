"""The outside view of a server: its log, its traces, and the metrics that belong to no application.

Other packages report their work here. No module here depends on the work of a server. The metrics of the
queue are
in `explorer.jobs.metrics`, the health of the slots in `explorer.jobs.health`.
"""
