"""The settings of the sandbox: the limits of one job, and the size of the pool. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from explorer.model import SCRIPT_TASKS
from explorer.model.limits import MOST_EVENT_BYTES

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

_WAITING_FACTOR = 4


@dataclass(frozen=True)
class Limits:
    """The resource limits of one job. The jail enforces them; the web side has a separate deadline.

    `working_seconds` is the real time without the time in which the job waits for a processor. With that
    time, a job has at most `most_wall_seconds`. `time_setting` is the name of the operator's setting, for
    messages.

    `memory_bytes` bounds the sum of the memory that all processes of a job use. With `limits_address_space`,
    it also bounds the address space of each process beyond what the warm zygote has mapped. CUDA reserves
    much more address space than it uses. With `runs_own_files`, a job may execute files that it wrote to its
    temporary folder. With `opens_sockets`, a job may create sockets, in a network that contains only the job.
    With `shares_memory`, the processes of a job may share memory that belongs to no file, as CUDA does. Only
    a control group counts the shared memory that no process maps. With `owns_processes`, a job has its own
    process namespace inside the jail; without it, the remaining processes end with the jail. With
    `leaves_copies`, the process of a script may stay after its job, for later jobs of the script.
    """

    working_seconds: float = 30.0
    time_setting: str = ""
    cpu_seconds: int = 35
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
    shares_memory: bool = False
    owns_processes: bool = True
    leaves_copies: bool = False

    @property
    def most_wall_seconds(self) -> float:
        """The longest time of a job that waits for a processor."""
        return _WAITING_FACTOR * self.working_seconds


def default_slots() -> int:
    """Return the number of cores, at most 8: a slot uses about 200 MB."""
    return min(len(os.sched_getaffinity(0)), 8)


@dataclass(frozen=True)
class SandboxSettings:
    """The settings that an operator can change.

    `unsafe` disables the jail (see `service`). `entry_point` is the module whose `warm_up()` the zygote
    calls once and whose `perform(request, emit)` executes a job; it may have a `get_ready()`, which the
    process of a job calls before the request arrives, and a `rehearse()`, which does a typical job (see
    `written_pages`). The zygotes of all versions share `shared_modules`, which must not import Triton.
    `python_path` lists further folders that the jail may read and import from. `tritons_dir` has a folder for
    each further Triton version. With `offered_tritons`, no other versions are used. `package_folders` hold
    further packages that user code may import; they hide no other module. `environment` adds variables to the
    environment of the jail, `readable_folders` adds existing folders, and `devices` are files below /dev that
    a job may use.
    With `leaves_copies`, the processes of at most `kept_scripts` scripts of a version stay for later jobs of
    the same scripts, for `kept_script_seconds` after the last job. Together they use at most
    `kept_scripts_bytes`.
    Without `warm_up`, a slot is started when the first job needs it. `reserve_slots` more of each version are
    started when more than `slots_per_version` jobs run or wait. A slot without a job for `idle_seconds` ends.
    With `warm_up`, the slots of the newest version stay.
    At most `warm_disassemblers` are kept, 50 MB each, and none for longer than `disassembler_idle_seconds`
    without a job; 0: each job starts nvdisasm anew.
    """

    limits: Limits = field(default_factory=Limits)
    unsafe: bool = False
    slots_per_version: int = field(default_factory=default_slots)
    reserve_slots: int = 0
    jobs_per_slot: int = 500
    request_bytes: int = 2 * MIB
    question_bytes: int = 64 * MIB
    event_line_bytes: int = MOST_EVENT_BYTES
    event_total_bytes: int = 256 * MIB
    event_journal_bytes: int = 8 * MIB
    event_count: int = 20_000
    start_seconds: float = 120.0
    warm_up: bool = True
    idle_seconds: float = 300.0
    kept_scripts: int = 8
    kept_script_seconds: float = 120.0
    kept_scripts_bytes: int = 2 * GIB
    entry_point: str = "explorer.pipeline.job"
    shared_modules: tuple[str, ...] = ()
    python_path: tuple[Path, ...] = ()
    tritons_dir: Path | None = None
    offered_tritons: tuple[str, ...] = ()
    package_folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    readable_folders: tuple[Path, ...] = ()
    devices: tuple[Path, ...] = ()
    bubblewrap: Path | None = None
    warm_disassemblers: int = 4
    disassembler_idle_seconds: float = 300.0

    @property
    def disassembler_limits(self) -> Limits:
        """The limits of one listing: the limits of a job, with a share of its memory."""
        return replace(self.limits, memory_bytes=self.limits.memory_bytes // 4)

    def most_bytes(self, task: str) -> int:
        """Return the length limit of a request's texts. Compiler output may be longer than a script."""
        is_script = task in SCRIPT_TASKS and task != "captured"
        return self.request_bytes if is_script else self.question_bytes
