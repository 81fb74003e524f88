"""The Triton versions that the project supports, from `tritons.txt`, the newest first."""

from pathlib import Path

TRITONS = tuple((Path(__file__).parents[1] / "tritons.txt").read_text().split())
