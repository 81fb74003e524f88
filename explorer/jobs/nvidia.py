"""What NVIDIA's driver says of the GPUs of this machine, asked through its own `nvidia-smi`.

A program of its own: a driver that hangs takes nobody along but it, and neither torch nor CUDA is loaded.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from explorer.settings import MEBIBYTE

_ANSWER_SECONDS = 30.0
_GPU_FACTS = "uuid,name,compute_cap,driver_version,pci.bus_id,index"
_CONTROL = Path("/dev/nvidiactl")
_GPU_FOLDER = Path("/proc/driver/nvidia/gpus")
#: What every use of CUDA needs, beside the device of the GPU itself.
_MEMORY_DEVICE = "nvidia-uvm"
_SHARED_DEVICES = ("nvidiactl", _MEMORY_DEVICE, "nvidia-uvm-tools")
#: Where the driver and the profilers put their programs, if not on the usual path.
_PROGRAM_FOLDERS = ("/usr/local/nvidia/bin", "/usr/local/cuda/bin")
_DRIVER_LIBRARY = "libcuda.so.1"
_NSIGHT_COMPUTE = Path("/opt/nvidia/nsight-compute")


class DriverError(Exception):
    """The driver does not answer, or there is none."""


@dataclass(frozen=True)
class Gpu:
    """One GPU. `capability` is "9.0", `minor` the number in the name of its device file."""

    uuid: str
    name: str
    capability: str
    driver: str
    minor: int

    @property
    def devices(self) -> tuple[Path, ...]:
        """The device files that CUDA needs for this GPU."""
        names = (*_SHARED_DEVICES, f"nvidia{self.minor}")
        return tuple(path for name in names if (path := Path("/dev") / name).exists())


@dataclass(frozen=True)
class Usage:
    """What is in use of a GPU: its memory, and by which processes (as the driver names them)."""

    memory_bytes: int
    processes: frozenset[int]


def find_gpus() -> tuple[Gpu, ...]:
    """All GPUs of this machine, in the driver's order.

    Raises:
        DriverError: with the reason why there are none.
    """
    if not _CONTROL.exists():
        raise DriverError(f"This machine has no NVIDIA GPU: there is no {_CONTROL}.")
    rows = _query(f"--query-gpu={_GPU_FACTS}")
    _make_memory_device()
    gpus = []
    for row in rows:
        try:
            uuid, name, capability, driver, bus, index = row
            gpus.append(Gpu(uuid, name, capability, driver, _minor(bus, int(index))))
        except ValueError as error:
            raise DriverError(f"nvidia-smi has answered {', '.join(row)[:200]!r}.") from error
    if not gpus:
        raise DriverError("NVIDIA's driver finds no GPU (nvidia-smi lists none).")
    return tuple(gpus)


def usage_of(gpu: Gpu) -> Usage:
    """What is in use of a GPU just now.

    Raises:
        DriverError: the driver does not answer.
    """
    mebibytes = [row[0] for row in _query("--query-gpu=memory.used", gpu)]
    processes = [row[0] for row in _query("--query-compute-apps=pid", gpu)]
    # What is not supported is answered with words: a GPU that shares the machine's memory does not say.
    return Usage(
        sum(int(number) * MEBIBYTE for number in mebibytes if number.isdigit()),
        frozenset(int(process) for process in processes if process.isdigit()),
    )


def gpu_environment(gpu: Gpu) -> dict[str, str]:
    """What the processes of a job on this GPU find in their environment."""
    nsight = sorted(_NSIGHT_COMPUTE.iterdir()) if _NSIGHT_COMPUTE.is_dir() else []
    folders = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", *_PROGRAM_FOLDERS]
    environment = {
        "CUDA_VISIBLE_DEVICES": gpu.uuid,
        "PATH": os.pathsep.join([*folders, *map(str, reversed(nsight))]),
    }
    if libraries := os.environ.get("LD_LIBRARY_PATH"):
        environment["LD_LIBRARY_PATH"] = libraries
    if driver := _driver_library():
        environment["TRITON_LIBCUDA_PATH"] = str(driver.parent)
    if compiler := _compiler():
        environment["CC"] = str(compiler)
    return environment


def gpu_folders() -> tuple[Path, ...]:
    """What a job on a GPU reads beyond the system's own folders."""
    folders = [Path("/opt/nvidia"), *_library_folders()]
    if driver := _driver_library():
        folders.append(driver.parent)
    if compiler := _compiler():
        folders.append(compiler.resolve().parent.parent)
    return tuple(folders)


def _library_folders() -> list[Path]:
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    return [Path(folder) for folder in folders if folder.startswith("/")]


def _driver_library() -> Path | None:
    """CUDA's part of the driver: Triton asks the linker's cache for it, which a jail cannot read."""
    found = [folder / _DRIVER_LIBRARY for folder in _library_folders()]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        cache = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=10, check=True
        )
        lines = [line for line in cache.stdout.splitlines() if _DRIVER_LIBRARY in line]
        found += [Path(line.split()[-1]) for line in lines]
    return next((path for path in found if path.exists()), None)


def _compiler() -> Path | None:
    """The C compiler, with which Triton builds what launches a kernel."""
    found = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    return None if found is None else Path(shutil.which(found) or found)


def _make_memory_device() -> None:
    """Have the driver's own helper make what the first CUDA program after a restart would: a jail cannot."""
    helper = shutil.which("nvidia-modprobe")
    if helper is not None and not (Path("/dev") / _MEMORY_DEVICE).exists():
        subprocess.run([helper, "-u", "-c=0"], timeout=_ANSWER_SECONDS, check=False)  # noqa: S603


def _query(what: str, gpu: Gpu | None = None) -> list[list[str]]:
    """Ask for a table; return its cells."""
    program = shutil.which("nvidia-smi", path=os.pathsep.join([os.environ["PATH"], *_PROGRAM_FOLDERS]))
    if program is None:
        raise DriverError("nvidia-smi is not installed: install the programs of NVIDIA's driver.")
    command = [program, what, "--format=csv,noheader,nounits"]
    if gpu is not None:
        command.append(f"--id={gpu.uuid}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"NVIDIA's driver does not answer: {error}") from error
    if done.returncode != 0:
        said = (done.stdout.strip() or done.stderr.strip())[:500]
        raise DriverError(f"nvidia-smi has failed: {said or f'exit status {done.returncode}'}")
    return [[cell.strip() for cell in line.split(", ")] for line in done.stdout.splitlines() if line.strip()]


def _minor(bus: str, index: int) -> int:
    """The number of the GPU's device file: the driver's order may be another one than that of the files."""
    name = bus.lower()[-len("0000:00:00.0") :]
    try:
        facts = (_GPU_FOLDER / name / "information").read_text()
    except OSError:
        return index
    for line in facts.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "Device Minor" and value.strip().isdigit():
            return int(value)
    return index
