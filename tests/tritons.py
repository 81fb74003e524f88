"""The Triton versions that the project supports, the newest first: those of `tritons.txt`."""

from pathlib import Path

TRITONS = tuple((Path(__file__).parents[1] / "tritons.txt").read_text().split())
