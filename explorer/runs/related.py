"""The records of a query about a run: the run and related records.

In: a run or a profile, and the compilation of its kernel. Out: these, the run that measured the roofs of the
GPU, and the run that timed the autotune configurations for the same launch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from explorer.model import Request
from explorer.profiles.read import ID_PREFIX, Profile, Profiles
from explorer.runs.documents import environment_of
from explorer.runs.roofs import roofs_run
from explorer.store import Record, Store, compilation_of

#: How many runs of a configuration are searched, the newest first.
_MOST_RUNS = 20


def run_records(
    store: Store, profiles: Profiles, roofs: Request | None, run: Record, compilation: Record | None
) -> list[Record | None]:
    """Return the records of a query about a run, as `explorer.queries.query.Kind` lists them.

    `roofs` is the request that `roofs_request` returns for this machine.
    """
    environment = environment_of(run)
    measured = roofs_run(store, roofs, environment.gpu) if environment else None
    return [run, compilation, measured, tuned_run(store, profiles, run)]


def tuned_run(store: Store, profiles: Profiles, run: Record) -> Record | None:
    """Return the run that timed the configurations of the same launch on a GPU of the same name; or None."""
    if "autotuning" in run.result.measurements:
        return run
    environment = environment_of(run)
    if environment is None or not environment.gpu:
        return None
    for other in _other_runs(store, profiles, run):
        found = environment_of(other)
        if "autotuning" in other.result.measurements and found and found.gpu == environment.gpu:
            return other
    return None


def _other_runs(store: Store, profiles: Profiles, run: Record) -> Iterable[Record]:
    """Yield the runs of the same launch with other configurations."""
    if run.id.startswith(ID_PREFIX):
        profile = profiles.find(run.id)
        for other in profiles.all.values():
            if other.example == profile.example and _launch_of(other) == _launch_of(profile):
                yield other.record
        return
    wanted = _inputs(run.request)
    for config in dict.fromkeys((None, 0, run.request.config)):
        request = replace(compilation_of(run.request), config=config)
        for record in store.runs(request, _MOST_RUNS):
            if record.id != run.id and _inputs(record.request) == wanted:
                yield record


def _launch_of(profile: Profile) -> tuple[object, ...]:
    asked = profile.request
    return asked.kernel, asked.target, asked.triton, asked.launch, asked.source_sha256, asked.run.sizes


def _inputs(request: Request) -> object:
    """Return the fields that determine the launch, without the measures."""
    return request.run and replace(
        request.run, measures=(), repeats=0, attempt=0, sweep_size="", sweep_values=()
    )
