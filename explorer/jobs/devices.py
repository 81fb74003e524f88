"""Which devices this machine has to run kernels on, and the runners for them."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.errors import SettingsError
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.nvidia import DriverError, Gpu, find_gpus, gpu_environment, gpu_folders
from explorer.jobs.runners import NoDevice, Runner, SandboxRunner
from explorer.sandbox import Sandbox
from explorer.settings import Settings


def interpreter_runners(settings: Settings) -> list[Runner]:
    """As many as run at once; all in one sandbox, which the first job starts."""
    if settings.interpreter_slots == 0:
        return [NoDevice("Runs in the interpreter are switched off (TRITON_EXPLORER_INTERPRETER_SLOTS=0).")]
    runner = SandboxRunner(Sandbox(settings.interpreter_sandbox), starts_it=True)
    return [runner] * settings.interpreter_slots


def gpu_runners(settings: Settings) -> list[Runner]:
    """One for each GPU, with a sandbox of its own."""
    wanted = settings.gpus.strip().lower()
    if wanted in ("none", ""):
        return [NoDevice("Runs on GPUs are switched off (TRITON_EXPLORER_GPUS).")]
    try:
        gpus = _chosen(find_gpus(), wanted)
    except DriverError as error:
        return [NoDevice(str(error))]
    return [_gpu_runner(gpu, settings) for gpu in gpus]


def _chosen(gpus: Sequence[Gpu], wanted: str) -> Sequence[Gpu]:
    if wanted == "all":
        return gpus
    numbers = [number.strip() for number in wanted.split(",")]
    if not all(number.isdigit() and int(number) < len(gpus) for number in numbers):
        raise SettingsError(
            f"TRITON_EXPLORER_GPUS must be all, none, or numbers from 0 to {len(gpus) - 1}, got {wanted!r}."
        )
    return [gpus[number] for number in sorted(set(map(int, numbers)))]


def _gpu_runner(gpu: Gpu, settings: Settings) -> GpuRunner:
    sandbox = Sandbox(settings.gpu_sandbox(gpu.devices, gpu_environment(gpu), gpu_folders()))
    return GpuRunner(gpu, sandbox)
