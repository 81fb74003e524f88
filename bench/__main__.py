"""Run the benchmarks, print their tables, and write `bench/results/<date>.json`.

python -m bench               run all benchmarks
python -m bench compilation   compare compilations with bare `triton.compile` and with a fresh process
python -m bench flame         draw what each process does during the compilation of a vector add
python -m bench fairness      time a compilation beside a client that floods the server with others
python -m bench command       time the command line, with a server to ask and without one
python -m bench load          let 200 people compile and 2,000 read at the same time
python -m bench matrix        compare a matrix with its cells compiled one after another
python -m bench page          compare the page in Chromium with its performance limits
python -m bench real          compare launches of public libraries with Triton alone
python -m bench saved_page    time the first download of a saved page, for each kernel of the gallery
python -m bench slow_clients  time a reader beside slow clients, and measure open event streams
python -m bench throughput    count compilations of the embedded form, and of clusters with 1, 2 and 4 workers
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from tritons import TRITONS

from bench import real
from bench.command import measure_command
from bench.compilation import measure_compilation
from bench.fairness import measure_fairness
from bench.flame import measure_flame
from bench.load import measure_load
from bench.matrix import measure_matrix
from bench.page import measure_page
from bench.real import measure_real
from bench.saved_page import measure_saved_page
from bench.service import running_service
from bench.slow_clients import measure_slow_clients
from bench.throughput import measure_throughput

RESULTS = Path(__file__).parent / "results"
PARTS = {
    "compilation": measure_compilation,
    "flame": measure_flame,
    "fairness": measure_fairness,
    "command": measure_command,
    "load": measure_load,
    "matrix": measure_matrix,
    "page": measure_page,
    "real": measure_real,
    "saved_page": measure_saved_page,
    "slow_clients": measure_slow_clients,
    "throughput": measure_throughput,
}
#: Settings of the servers of parts. The people of a load have addresses as behind a proxy.
_SETTINGS: dict[str, dict[str, Any]] = {
    "load": {"proxies": "127.0.0.1"},
    "real": {"packages_dir": real.FOLDER},
    "throughput": {"proxies": "127.0.0.1", "tritons": TRITONS[0]},
}


def main() -> None:
    """Run the benchmarks that the command line names, or all of them, each with a separate server."""
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := set(wanted) - set(PARTS):
        sys.exit(f"Unknown benchmark: {', '.join(sorted(unknown))}. Choose from {', '.join(PARTS)}.")
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
        if name == "real":
            real.install()
        with running_service(**_SETTINGS.get(name, {})) as service:
            service.wait_until_warm()
            figures[name] = PARTS[name](service)
        print()
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{now:%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(figures, indent=2) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
