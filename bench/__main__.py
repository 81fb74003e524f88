"""Measure, print the tables, and write `bench/results/<date>.json`.

python -m bench               everything
python -m bench compilation   compilations: against bare `triton.compile`, and against a fresh process
python -m bench page          the page in Chromium: against what is asked of it
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import datetime
from pathlib import Path

from bench.compilation import measure_compilation
from bench.page import measure_page
from bench.service import running_service

RESULTS = Path(__file__).parent / "results"
PARTS = {"compilation": measure_compilation, "page": measure_page}


def main() -> None:
    """Measure the parts that the command line names, or all, each with a server of its own."""
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        sys.exit(f"There is no {', '.join(sorted(unknown))}: choose from {', '.join(PARTS)}.")
    now = datetime.now().astimezone()
    figures: dict[str, object] = {
        "date": now.isoformat(),
        "machine": {
            "python": platform.python_version(),
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "load": os.getloadavg()[0],
        },
    }
    for name in wanted:
        with running_service() as service:
            service.wait_until_warm()
            figures[name] = PARTS[name](service)
        print()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
