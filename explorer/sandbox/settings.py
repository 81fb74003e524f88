"""What the sandbox can be told: limits of one job, and the size of the whole. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from explorer.model import SCRIPT_TASKS

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB


@dataclass(frozen=True)
class Limits:
    """What one job may use. They cross into the jail, which enforces all but the last word on time.

    `memory_bytes` bounds the sum of what all processes of a job really hold and, with
    `limits_address_space`, the address space of each beyond what the warm zygote has mapped already: CUDA
    reserves much more than it uses. `runs_own_files`: what a job has written to its temporary folder may be
    executed. `opens_sockets`: it may make sockets, in a network that consists of the job itself.
    `owns_processes`: it has a process namespace to itself, inside of the jail's; without one, what it leaves
    behind ends with the jail.
    """

    wall_seconds: float = 30.0
    cpu_seconds: int = 25
    memory_bytes: int = 4 * GIB
    processes: int = 64
    open_files: int = 256
    file_bytes: int = 64 * MIB
    scratch_bytes: int = 128 * MIB
    scratch_files: int = 4000
    output_bytes: int = 64 * KIB
    locked_bytes: int = 64 * KIB
    limits_address_space: bool = True
    runs_own_files: bool = False
    opens_sockets: bool = False
    owns_processes: bool = True


def default_slots() -> int:
    """As many jobs at a time as there are cores; a slot holds some 200 MB, so at most 8."""
    return min(len(os.sched_getaffinity(0)), 8)


@dataclass(frozen=True)
class SandboxSettings:
    """Everything an operator may change about the sandbox.

    `unsafe` gives up the jail (see `service`). `entry_point` is the module whose `warm_up()` the zygote
    calls once and whose `perform(request, emit)` does a job; `python_path` are more folders that the
    jail may read and import from. `triton_folders` are folders that hold a `triton` package each.
    `environment` adds to the variables of the jail, `readable_folders` to what it may read if they are
    there, `devices` are files below /dev that it may use.
    Without `warm_up`, a slot is started when the first job needs it.
    """

    limits: Limits = field(default_factory=Limits)
    unsafe: bool = False
    slots_per_version: int = field(default_factory=default_slots)
    queue_length: int = 50
    jobs_per_slot: int = 500
    request_bytes: int = 2 * MIB
    question_bytes: int = 64 * MIB
    event_line_bytes: int = 64 * MIB
    event_total_bytes: int = 256 * MIB
    event_journal_bytes: int = 8 * MIB
    event_count: int = 20_000
    start_seconds: float = 120.0
    warm_up: bool = True
    entry_point: str = "explorer.pipeline.job"
    python_path: tuple[Path, ...] = ()
    triton_folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    readable_folders: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    bubblewrap: Path | None = None

    def most_bytes(self, task: str) -> int:
        """How long the source of a request may be: what a compiler has written is longer than a script."""
        return self.request_bytes if task in SCRIPT_TASKS else self.question_bytes
