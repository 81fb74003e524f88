"""Measure how near a GPU comes to the peak of its tensor cores, and at which clock.

python -m bench.tensor_peak

Products of two matrices of fp16 by cuBLAS and by two kernels of the gallery, in one process, on random
numbers and on zeros, one launch after another and with pauses. While they run, `nvidia-smi` says the clock
of the multiprocessors and the power. Needs torch and triton with an NVIDIA GPU of compute capability 9.0.
Writes `bench/results/<date>-tensor-peak.json`.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
import triton

EXAMPLES = Path(__file__).resolve().parents[1] / "explorer" / "examples"
RESULTS = Path(__file__).parent / "results"
SIZE = 8192
#: Operations of the tensor cores of a multiprocessor of compute capability 9.0 in a clock, fp16, dense.
OPERATIONS_PER_CLOCK = 4096
SECONDS = 2.0
#: The GPU changes its clock in the first part of a measurement, which does not count.
SETTLING_SECONDS = 0.5
PAUSE_SECONDS = 0.02
_ASKED = "clocks.sm,power.draw.instant,clocks_event_reasons.sw_power_cap"

Launch = Callable[[], object]
Sample = tuple[float, float, float, bool]


def main() -> None:
    """Print a line for each measurement, and write all of them."""
    properties = torch.cuda.get_device_properties(0)
    found = {
        "gpu": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "torch": torch.__version__,
        "triton": triton.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "size": SIZE,
    }
    rows = []
    with _sampling() as samples:
        for contents, make in {"random": torch.randn, "zeros": torch.zeros}.items():
            a, b = (make(SIZE, SIZE, device="cuda", dtype=torch.float16) for _ in range(2))
            for name, launch in _launches(a, b).items():
                for pause_seconds in (0.0, PAUSE_SECONDS):
                    row = {"kernel": name, "contents": contents, "pause_seconds": pause_seconds}
                    row |= _measure(launch, pause_seconds, samples, properties.multi_processor_count)
                    print(row, flush=True)
                    rows.append(row)
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{found['date']}-tensor-peak.json"
    file.write_text(json.dumps(found | {"rows": rows}, indent=1) + "\n", encoding="utf-8")


def _launches(a: torch.Tensor, b: torch.Tensor) -> dict[str, Launch]:
    """Return cuBLAS, and the kernels of the gallery with tiles of 128 × 256."""
    tiled, persistent = _example("matmul"), _example("matmul_persistent")
    for module, kernel in ((tiled, tiled.matmul_kernel), (persistent, persistent.matmul_persistent_kernel)):
        kernel.configs = [module.config(128, 256, 64, num_warps=8, num_stages=3)]
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    return {
        "cuBLAS": lambda: a @ b,
        "matmul": lambda: tiled.matmul(a, b),
        "matmul_persistent": lambda: persistent.matmul(a, b, programs, False),
    }


def _example(name: str) -> Any:
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@contextmanager
def _sampling() -> Iterator[list[Sample]]:
    """Yield a growing list of times, clocks in MHz, powers in W, and whether power limits the clock."""
    samples: list[Sample] = []
    command = ["nvidia-smi", f"--query-gpu={_ASKED}", "--format=csv,noheader,nounits", "-lms", "40"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout

        def read() -> None:
            for line in output:
                clock_mhz, power_watts, is_capped = line.strip().split(", ")
                samples.append(
                    (time.monotonic(), float(clock_mhz), float(power_watts), is_capped == "Active")
                )

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield samples
        finally:
            process.terminate()
            thread.join()


def _measure(
    launch: Launch, pause_seconds: float, samples: list[Sample], multiprocessors: int
) -> dict[str, float]:
    """Launch for `SECONDS`. Return medians, and without pauses the rate against the peak at the clock."""
    launch()
    torch.cuda.synchronize()
    begin, times_ms = time.monotonic(), list[float]()
    while (now := time.monotonic() - begin) < SECONDS:
        events = []
        for _ in range(1 if pause_seconds else 20):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            launch()
            end.record()
            events.append((start, end))
        torch.cuda.synchronize()
        if now > SETTLING_SECONDS:
            times_ms += [start.elapsed_time(end) for start, end in events]
        time.sleep(pause_seconds)
    settled = [each for each in samples if begin + SETTLING_SECONDS < each[0] < begin + SECONDS]
    clock_mhz = statistics.median(each[1] for each in settled)
    time_ms = statistics.median(times_ms)
    rate = 2 * SIZE**3 / time_ms * 1e3
    peak = multiprocessors * OPERATIONS_PER_CLOCK * clock_mhz * 1e6
    found = {"time_us": round(time_ms * 1e3, 1), "tflops": round(rate / 1e12, 1)}
    if pause_seconds:  # most samples see an idle GPU
        return found
    return found | {
        "sm_clock_mhz": clock_mhz,
        "power_watts": statistics.median(each[2] for each in settled),
        "power_capped_share": statistics.mean(each[3] for each in settled),
        "peak_share_at_clock": round(rate / peak, 3),
    }


if __name__ == "__main__":
    main()
