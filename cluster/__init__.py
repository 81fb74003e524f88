"""Triton-explorer as several servers on one machine, each part a process of its own: `make cluster`."""
