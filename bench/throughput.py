"""The throughput benchmark: compilations each second, and each second of processor time, by workers.

The embedded form, and clusters with 1, 2 and 4 workers of one slot each, run on this machine one after
another, several times: the processors of a shared machine are not equally fast all the time. The medians are
compared. Locust plays people who compile without pauses, and takes a part of the processors. So what more
workers must not change is how many compilations a second of processor time does: a worker on a machine of its
own has that machine's processors. What workers take without jobs is shown apart, and not left out.

Busy processors are slower for each process. One worker beside another cluster, with which it shares the
machine and nothing else, shows how much.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from tritons import TRITONS

from bench.load import figures_of, play
from bench.row import Row
from bench.service import Service
from cluster.parts import Cluster, free_ports
from cluster.supervisor import Supervisor
from explorer.examples import find_example

WORKERS = (1, 2, 4)
_BESIDE = "1 worker beside another cluster"
#: How much less a second of processor time may do with more workers than with one.
_MOST_LOSS = 0.1
_PEOPLE = 16
_ROUNDS = 3
#: A worker has started its spare slots and disassemblers by then.
_WARM_SECONDS = 30
#: Slots and disassemblers are replaced after the last job.
_PAUSE_SECONDS = 10
_IDLE_SECONDS = 10
_MEASURED_SECONDS = 40
#: In which Locust starts and ends.
_LOCUST_SECONDS = 20
_START_SECONDS = 120
_CHECK_SECONDS = 0.5


def measure_throughput(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures by form. `service` is the embedded form."""
    rounds = []
    for _ in range(_ROUNDS):
        measured = {"embedded": _measure(service, {"server": service.process})}
        for workers in WORKERS:
            with _running_cluster(workers) as (cluster, parts):
                measured[_form(workers)] = _measure(cluster, parts)
        with _running_cluster(1) as (other, _), _running_cluster(1) as (cluster, parts), _compiling(other):
            measured[_BESIDE] = _measure(cluster, parts)
        rounds.append(measured)
    figures = {form: _median([measured[form] for measured in rounds]) for form in rounds[0]}
    one = figures[_form(1)]
    for form, found in figures.items():
        note = f"p50 {found['p50']:.0f}, p95 {found['p95']:.0f} ms, {found['failures']} failed"
        print(Row(f"{form}: compilations", found["per_second"], "1/s", note=note))
        note = f"{found['per_processor_second']:.2f} of all; idle {found['idle_share']:.3f} processors"
        has_goal = form in map(_form, WORKERS[1:])
        least = (1 - _MOST_LOSS) * one["per_job_second"] if has_goal else None
        what = f"{form}: each second of processor time"
        print(Row(what, found["per_job_second"], "1/s", least, is_least=True, note=note))
    return figures


def _form(workers: int) -> str:
    return f"{workers} worker{'s' if workers > 1 else ''}"


def _median(measured: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the median of each figure, the sum of the failures, and all rounds."""
    names = ("per_second", "per_job_second", "per_processor_second", "idle_share", "p50", "p95")
    medians = {name: median(each[name] for each in measured) for name in names}
    failures = sum(each["failures"] for each in measured)
    return {**medians, "failures": failures, "rounds": list(measured)}


def _measure(service: Service, parts: Mapping[str, int]) -> dict[str, Any]:
    """Let people compile. `parts` are the process IDs of all parts by name."""
    _compile(service, _WARM_SECONDS)
    time.sleep(_PAUSE_SECONDS)
    doing_jobs = {name: process for name, process in parts.items() if name.startswith(("worker", "server"))}
    begin = _used_by(doing_jobs)
    time.sleep(_IDLE_SECONDS)
    idle_share = (_used_by(doing_jobs) - begin) / _IDLE_SECONDS
    begin, begin_of_all = _used_by(doing_jobs), _used_by(parts)
    statistics = _compile(service, _MEASURED_SECONDS)
    used, used_by_all = _used_by(doing_jobs) - begin, _used_by(parts) - begin_of_all
    found = figures_of([each for each in statistics if each["name"] == "compilation"])
    done = found["count"] - found["failures"]
    return {
        **found,
        "per_second": done / _MEASURED_SECONDS,
        "per_job_second": done / used,
        "per_processor_second": done / used_by_all,
        "idle_share": idle_share,
    }


def _compile(service: Service, seconds: int) -> list[dict[str, Any]]:
    """Let people compile without pauses. Return Locust's statistics."""
    vector_add = find_example("vector_add")
    assert vector_add is not None
    work = {
        "compile": _PEOPLE,
        "read": 0,
        "compiles_after": (0, 0),
        "reads_after": (0, 0),
        "source": vector_add.source,
        "results": {},
    }
    return play(service.url, work, seconds)


@contextlib.contextmanager
def _compiling(service: Service) -> Iterator[None]:
    """Let people compile until the end of the block."""
    seconds = _WARM_SECONDS + _PAUSE_SECONDS + _IDLE_SECONDS + _MEASURED_SECONDS + _LOCUST_SECONDS
    with ThreadPoolExecutor(1) as pool:
        people = pool.submit(_compile, service, seconds)
        yield
        has_ended = people.done()
        people.result()  # raises what went wrong
        assert not has_ended, "the processors were not busy until the end"


def _used_by(parts: Mapping[str, int]) -> float:
    """Return the processor seconds that parts have used."""
    return sum(map(_processor_seconds, parts.values()))


@contextlib.contextmanager
def _running_cluster(workers: int) -> Iterator[tuple[Service, Mapping[str, int]]]:
    """Start a cluster with an empty folder, and wait until it knows all workers."""
    with tempfile.TemporaryDirectory(prefix="triton-explorer-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # for the user of PostgreSQL
        (port,) = free_ports("load_balancer").values()
        settings = {"TRITON_EXPLORER_SLOTS": "1", "TRITON_EXPLORER_TRITONS": TRITONS[0]}
        with Supervisor(Cluster(folder, port, workers=workers, settings=settings)) as supervisor:
            supervisor.wait_until_it_answers()
            parts = supervisor.process_ids()
            service = Service(port, parts["web1"])
            deadline = time.monotonic() + _START_SECONDS
            while set(service.request("GET", "/healthz")["workers"].values()) != {workers}:
                assert time.monotonic() < deadline, "not all workers have started"
                time.sleep(_CHECK_SECONDS)
            yield service, parts


def _processor_seconds(process: int) -> float:
    """Return the processor time of a process and its descendants, including ended descendants."""
    root = psutil.Process(process)
    used = 0.0
    for each in (root, *root.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # its parent has its times
            used += sum(each.cpu_times()[:4])
    return used
