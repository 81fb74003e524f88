"""The NVIDIA GPUs of this machine, and the files and variables that a jail needs to use a GPU.

Facts come from the driver's `nvidia-smi`: a driver that hangs blocks only that program, and neither torch
nor CUDA is loaded into the server.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

MEBIBYTE = 1024 * 1024
_ANSWER_SECONDS = 30.0
_GPU_FACTS = "uuid,name,compute_cap,driver_version,pci.bus_id,index"
_CONTROL = Path("/dev/nvidiactl")
_GPU_FOLDER = Path("/proc/driver/nvidia/gpus")
#: The device files that CUDA needs beside the file of the GPU.
_MEMORY_DEVICE = "nvidia-uvm"
_SHARED_DEVICES = ("nvidiactl", _MEMORY_DEVICE, "nvidia-uvm-tools")
#: The folders of the driver's and the profilers' programs that may be missing in PATH.
_PROGRAM_FOLDERS = ("/usr/local/nvidia/bin", "/usr/local/cuda/bin")
_DRIVER_LIBRARY = "libcuda.so.1"
_NSIGHT_COMPUTE = Path("/opt/nvidia/nsight-compute")


class DriverError(Exception):
    """There is no driver, or it does not answer."""


@dataclass(frozen=True)
class Gpu:
    """One GPU. `capability` is for example "9.0", `minor` the number in the name of its device file."""

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
    """The memory in use on a GPU, and the processes that use it, by the driver's numbers."""

    memory_bytes: int
    processes: frozenset[int]


def find_gpus() -> tuple[Gpu, ...]:
    """Return all GPUs of this machine, in the driver's order.

    Raises:
        DriverError: there is no GPU; the message says why.
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
            raise DriverError(f"Cannot parse the output of nvidia-smi: {', '.join(row)[:200]!r}.") from error
    if not gpus:
        raise DriverError("NVIDIA's driver finds no GPU: nvidia-smi lists none.")
    return tuple(gpus)


def usage_of(gpu: Gpu) -> Usage:
    """Return the present usage of a GPU.

    Raises:
        DriverError: the driver does not answer.
    """
    mebibytes = [row[0] for row in _query("--query-gpu=memory.used", gpu)]
    processes = [row[0] for row in _query("--query-compute-apps=pid", gpu)]
    # Unsupported values are words such as [N/A]: a GPU that shares the machine's memory reports none.
    return Usage(
        sum(int(number) * MEBIBYTE for number in mebibytes if number.isdigit()),
        frozenset(int(process) for process in processes if process.isdigit()),
    )


@dataclass(frozen=True)
class Toolchain:
    """The machine's libraries and C compiler as the environment names them (LD_LIBRARY_PATH, CC)."""

    library_path: str = ""
    compiler: str = ""

    @property
    def library_folders(self) -> list[Path]:
        """The absolute folders of LD_LIBRARY_PATH."""
        return [Path(folder) for folder in self.library_path.split(os.pathsep) if folder.startswith("/")]

    def find_compiler(self) -> Path | None:
        """Return the C compiler, with which Triton builds its launcher."""
        found = self.compiler or shutil.which("gcc") or shutil.which("cc")
        return None if found is None else Path(shutil.which(found) or found)


def gpu_environment(gpu: Gpu, toolchain: Toolchain) -> dict[str, str]:
    """Return the environment of the processes of a job on a GPU."""
    nsight = sorted(_NSIGHT_COMPUTE.iterdir()) if _NSIGHT_COMPUTE.is_dir() else []
    folders = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", *_PROGRAM_FOLDERS]
    environment = {
        "CUDA_VISIBLE_DEVICES": gpu.uuid,
        "PATH": os.pathsep.join([*folders, *map(str, reversed(nsight))]),
    }
    if toolchain.library_path:
        environment["LD_LIBRARY_PATH"] = toolchain.library_path
    if driver := _driver_library(toolchain):
        environment["TRITON_LIBCUDA_PATH"] = str(driver.parent)
    if compiler := toolchain.find_compiler():
        environment["CC"] = str(compiler)
    return environment


def gpu_folders(toolchain: Toolchain) -> tuple[Path, ...]:
    """Return the folders that a job on a GPU reads, beside the system's folders."""
    folders = [Path("/opt/nvidia"), *toolchain.library_folders]
    if driver := _driver_library(toolchain):
        folders.append(driver.parent)
    if compiler := toolchain.find_compiler():
        folders.append(compiler.resolve().parent.parent)
    return tuple(folders)


def _driver_library(toolchain: Toolchain) -> Path | None:
    """Find the driver's CUDA library, which Triton looks up in a cache that a jail cannot read."""
    found = [folder / _DRIVER_LIBRARY for folder in toolchain.library_folders]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        cache = subprocess.run(
            ["/sbin/ldconfig", "-p"], capture_output=True, text=True, timeout=10, check=True
        )
        lines = [line for line in cache.stdout.splitlines() if _DRIVER_LIBRARY in line]
        found += [Path(line.split()[-1]) for line in lines]
    return next((path for path in found if path.exists()), None)


def _make_memory_device() -> None:
    """Create the device file that the first CUDA program after a boot creates. A jail cannot create it."""
    helper = shutil.which("nvidia-modprobe")
    if helper is not None and not (Path("/dev") / _MEMORY_DEVICE).exists():
        subprocess.run([helper, "-u", "-c=0"], timeout=_ANSWER_SECONDS, check=False)  # noqa: S603  the driver's


def _query(what: str, gpu: Gpu | None = None) -> list[list[str]]:
    """Run `nvidia-smi` and return the cells of its table."""
    more_folders = os.pathsep.join(_PROGRAM_FOLDERS)
    program = shutil.which("nvidia-smi") or shutil.which("nvidia-smi", path=more_folders)
    if program is None:
        raise DriverError("nvidia-smi is not installed. Install the programs of NVIDIA's driver.")
    command = [program, what, "--format=csv,noheader,nounits"]
    if gpu is not None:
        command.append(f"--id={gpu.uuid}")
    try:
        done = subprocess.run(  # noqa: S603  the driver's program, with our own arguments
            command, capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DriverError(f"NVIDIA's driver does not answer: {error}") from error
    if done.returncode != 0:
        output = (done.stdout.strip() or done.stderr.strip())[:500]
        raise DriverError(f"nvidia-smi failed: {output or f'exit status {done.returncode}'}")
    return [[cell.strip() for cell in line.split(", ")] for line in done.stdout.splitlines() if line.strip()]


def _minor(bus: str, index: int) -> int:
    """Return the number of a GPU's device file, which may differ from the driver's index."""
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
