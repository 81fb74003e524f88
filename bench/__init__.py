"""Benchmarks of the server and the page: `python -m bench`, or `make bench`."""

import sys
from pathlib import Path

# The benchmarks start the server of the tests.
sys.path.append(str(Path(__file__).parents[1] / "tests"))
