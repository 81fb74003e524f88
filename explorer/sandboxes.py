"""The sandbox of each kind of job: the modules that run there, and the limits, from the settings."""

from __future__ import annotations

import logging
import math
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from explorer.sandbox.settings import Limits, SandboxSettings
from explorer.sandbox.versions import installed_versions
from explorer.settings import PREFIX, Settings

#: The module whose jobs run kernels, in the interpreter and on GPUs.
_RUN = "explorer.runner.job"
#: The entry point without the warm-up that makes later jobs faster, for processes that do one job.
_SINGLE_JOB = "explorer.pipeline.single_job"
#: The module whose jobs are programs with `torch.compile`.
_TORCH_COMPILE = "explorer.pipeline.torch_compile_job"
#: The modules that compilations and runs need with every Triton version. A fake GPU needs the symbolic
#: shapes.
_SHARED_MODULES = ("torch", "torch.distributed.tensor", "torch.fx.experimental.symbolic_shapes")
_GPU_OPEN_FILES = 4096
_GPU_SCRATCH_FILES = 20_000
_log = logging.getLogger(__name__)


def compilation_sandbox(settings: Settings) -> SandboxSettings:
    """Return the settings of the sandbox of compilations."""
    limits = Limits(
        working_seconds=settings.compilation_seconds,
        time_setting=f"{PREFIX}WALL_LIMIT_SECONDS",
        cpu_seconds=settings.compilation_processor_seconds,
        memory_bytes=settings.memory_limit_bytes,
        processes=settings.process_limit,
        open_files=settings.open_files_limit,
        file_bytes=settings.file_limit_bytes,
        scratch_bytes=settings.scratch_limit_bytes,
        leaves_copies=True,
    )
    return SandboxSettings(
        limits=limits,
        unsafe=settings.unsafe_no_sandbox,
        slots_per_version=settings.slots,
        reserve_slots=1,
        request_bytes=2 * settings.source_limit_bytes,
        tritons_dir=settings.tritons_dir if settings.tritons_dir.is_dir() else None,
        offered_tritons=settings.offered_tritons,
        package_folders=(settings.packages_dir,) if settings.packages_dir.is_dir() else (),
        shared_modules=_SHARED_MODULES,
    )


def no_version(settings: Settings) -> str:
    """Return the sentences about a server or a worker that has no Triton version."""
    installed = ", ".join(installed_versions(settings.tritons_dir)) or "none"
    return (
        f"No Triton version is available. {PREFIX}TRITONS is {settings.tritons!r}. Installed: {installed}. "
        "Change the setting, or add a version with `triton-explorer toolchain add`."
    )


def log_missing_versions(settings: Settings, available: Collection[str]) -> None:
    """Log the Triton versions that the settings name and that are not installed."""
    if missing := set(settings.offered_tritons).difference(available):
        _log.warning(
            "%sTRITONS names versions that are not installed: %s. Change the setting, or add them with "
            "`triton-explorer toolchain add`.",
            PREFIX,
            ", ".join(sorted(missing)),
        )


def single_job_sandbox(settings: Settings) -> SandboxSettings:
    """Return the settings of the sandbox of a program that does one job."""
    sandbox = compilation_sandbox(settings)
    return replace(
        sandbox,
        limits=replace(sandbox.limits, leaves_copies=False),
        warm_up=False,
        warm_disassemblers=0,
        entry_point=_SINGLE_JOB,
        shared_modules=("torch",),
    )


def _limits(settings: Settings, setting: str) -> Limits:
    """Return the limits of a compilation, with the time of another setting."""
    seconds = getattr(settings, setting)
    return replace(
        compilation_sandbox(settings).limits,
        working_seconds=seconds,
        time_setting=PREFIX + setting.upper(),
        cpu_seconds=math.ceil(seconds),
        leaves_copies=False,
    )


def interpreter_sandbox(settings: Settings) -> SandboxSettings:
    """Return the settings of the sandbox of runs in Triton's interpreter."""
    return replace(
        compilation_sandbox(settings),
        limits=_limits(settings, "interpreter_wall_limit_seconds"),
        slots_per_version=settings.interpreter_slots,
        entry_point=_RUN,
        environment={"TRITON_INTERPRET": "1"},
        warm_up=False,
    )


def torch_compile_sandbox(settings: Settings) -> SandboxSettings:
    """Return the settings of the sandbox of programs with `torch.compile`."""
    return replace(
        compilation_sandbox(settings),
        limits=_limits(settings, "torch_compile_wall_limit_seconds"),
        slots_per_version=1,
        entry_point=_TORCH_COMPILE,
        warm_up=False,
        warm_disassemblers=0,
    )


def gpu_sandbox(
    settings: Settings,
    devices: tuple[Path, ...],
    environment: Mapping[str, str],
    folders: tuple[Path, ...],
) -> SandboxSettings:
    """Return the settings of the sandbox of a GPU, with its device files, variables and folders."""
    return replace(
        compilation_sandbox(settings),
        limits=replace(
            _limits(settings, "gpu_wall_limit_seconds"),
            memory_bytes=settings.gpu_memory_limit_bytes,
            processes=settings.gpu_process_limit,
            open_files=max(settings.open_files_limit, _GPU_OPEN_FILES),
            file_bytes=settings.gpu_scratch_limit_bytes,
            scratch_bytes=settings.gpu_scratch_limit_bytes,
            scratch_files=_GPU_SCRATCH_FILES,
            locked_bytes=settings.gpu_memory_limit_bytes,
            limits_address_space=False,
            runs_own_files=True,
            opens_sockets=True,
            shares_memory=True,
            owns_processes=False,  # CUDA does not start in a nested process namespace
        ),
        slots_per_version=settings.gpu_slots,
        reserve_slots=0,
        jobs_per_slot=1,
        idle_seconds=math.inf,  # a start takes seconds, and one run needs one slot
        entry_point=_RUN,
        environment=environment,
        readable_folders=folders,
        devices=devices,
        warm_up=False,
    )
