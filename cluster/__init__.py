"""Triton-explorer as several servers on one machine, each part in a separate process: `make cluster`."""
