"""`worker`: do the jobs of web servers."""

from __future__ import annotations

import argparse
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from explorer.cli.tools import Commands, add_command, add_unsafe
from explorer.errors import SettingsError
from explorer.monitoring.log import configure_log
from explorer.monitoring.traces import configure_traces, end_traces
from explorer.settings import Settings

if TYPE_CHECKING:
    from explorer.worker_services import WorkerServices


def add(commands: Commands) -> None:
    parser = add_command(commands, "worker", run, "do the jobs of web servers with the same message broker")
    parser.add_argument(
        "--queues",
        default="",
        metavar="NAMES",
        help="queues to take jobs from, or prefixes of their names, separated by commas, such as "
        "compile:3.9.0,gpu (default: all queues that this machine can serve)",
    )
    parser.add_argument("--slots", type=int, help="compilations at the same time")
    parser.add_argument("--data-dir", type=Path, help="folder of the results (default: data)")
    parser.add_argument("--host", help="address to serve metrics on (default: 127.0.0.1)")
    parser.add_argument(
        "--metrics-port", type=int, metavar="PORT", help="serve metrics for Prometheus at this port"
    )
    add_unsafe(parser)


def run(options: argparse.Namespace) -> int:
    """Work until the process is stopped."""
    from explorer.worker_services import WorkerServices  # slow to import

    settings = Settings.from_environment()
    given = {name: getattr(options, name) for name in ("slots", "data_dir", "host")}
    settings = replace(settings, **{name: value for name, value in given.items() if value is not None})
    if options.unsafe_no_sandbox:
        settings = replace(settings, unsafe_no_sandbox=True)
    if not settings.broker_url:
        raise SettingsError("A worker needs TRITON_EXPLORER_BROKER_URL with the value of the web servers.")
    configure_log(settings.log_format, settings.least_log_level)
    if settings.traces_url:
        configure_traces(settings.traces_url)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stopped.set())
    services = WorkerServices(settings, options.queues)
    try:
        print(f"triton-explorer does jobs of {', '.join(services.queues)}", flush=True)
        if options.metrics_port is not None:
            port = _serve_metrics(services, settings.host, options.metrics_port)
            print(f"Metrics are at http://{settings.host}:{port}/metrics", flush=True)
        services.run(stopped)
    finally:
        services.close()
        end_traces()
    return 0


def _serve_metrics(services: WorkerServices, host: str, port: int) -> int:
    try:
        return services.serve_metrics(host, port)
    except OSError as error:
        raise SettingsError(
            f"Metrics cannot be served at {host}:{port}: {error.strerror}. Choose another --metrics-port."
        ) from error
