"""The runners for devices and for PyTorch's compiler, whose jobs the sandbox of compilations cannot do."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.errors import SettingsError
from explorer.jobs.gpu import GpuRunner
from explorer.jobs.runners import NoDevice, Runner, SandboxRunner, TorchCompileRunner
from explorer.sandbox import Sandbox
from explorer.sandbox.nvidia import DriverError, Gpu, find_gpus, gpu_environment, gpu_folders
from explorer.sandboxes import gpu_sandbox, interpreter_sandbox, torch_compile_sandbox
from explorer.settings import Settings, toolchain


def interpreter_runners(settings: Settings) -> list[Runner]:
    """Return a runner for each concurrent run, and a reserve.

    The runners share a sandbox, which the first job starts.
    """
    if settings.interpreter_slots == 0:
        return [NoDevice("Runs in the interpreter are disabled (TRITON_EXPLORER_INTERPRETER_SLOTS=0).")]
    runner = SandboxRunner(Sandbox(interpreter_sandbox(settings)), starts_it=True)
    return [runner] * (settings.interpreter_slots + 1)


def torch_compile_runners(settings: Settings) -> list[Runner]:
    """Return a runner for programs with `torch.compile`, and a reserve.

    The runners share a sandbox, which the first job starts.
    """
    return [TorchCompileRunner(Sandbox(torch_compile_sandbox(settings)))] * 2


def gpu_runners(settings: Settings) -> list[Runner]:
    """Return one runner for each GPU, each with its own sandbox."""
    wanted = settings.gpus.strip().lower()
    if wanted in ("none", ""):
        return [NoDevice("Runs on GPUs are disabled (TRITON_EXPLORER_GPUS).")]
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
    tools = toolchain()
    environment, folders = gpu_environment(gpu, tools), gpu_folders(tools)
    sandbox = Sandbox(gpu_sandbox(settings, gpu.devices, environment, folders))
    return GpuRunner(gpu, sandbox)
