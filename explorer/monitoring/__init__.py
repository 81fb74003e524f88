"""How a server is seen from outside: its log, its traces, and the metrics that belong to no application.

Other packages say here what they do. Nothing here depends on what a server does. The metrics of the queue are
in `explorer.jobs.metrics`, the health of the slots in `explorer.jobs.health`.
"""
