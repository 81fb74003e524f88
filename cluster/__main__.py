"""Start a cluster on this machine, print its address, and end it with Ctrl-C.

python -m cluster FOLDER [--port 8000]
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from cluster.parts import Cluster, MissingProgram
from cluster.supervisor import PartFailed, Supervisor


def main() -> int:
    """Run a cluster until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m cluster", description="Start a cluster on this machine.")
    parser.add_argument("folder", type=Path, help="folder of all data, which a later start uses again")
    parser.add_argument("--port", type=int, default=8000, help="port of the load balancer (default: 8000)")
    options = parser.parse_args()
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)
    cluster = Cluster(options.folder.resolve(), options.port)
    try:
        with Supervisor(cluster) as supervisor:
            supervisor.wait_until_it_answers()
            print(f"triton-explorer serves on {cluster.url}", flush=True)
            print(f"Parts: {', '.join(part.name for part in cluster.parts)}", flush=True)
            print(
                f"Logs: {cluster.folder / 'log'}; {supervisor.control} shows and restarts parts", flush=True
            )
            return supervisor.wait()
    except (MissingProgram, PartFailed, PermissionError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
