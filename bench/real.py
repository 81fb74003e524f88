"""The benchmark of real code: launches of public libraries against Triton alone.

(a) Through HTTP, one launch of a script after another: the time until the last
    stage and the resources have arrived ("essential"), and until the last event.
(b) In a warm process: the script once, and for each of its launches `triton.compile` and one run of the
    disassembler.

The ratio of a script is (a) / (b), for all its launches together. A program with `torch.compile` is a script
whose kernels are the launches of PyTorch's output code. The first such program of a server starts a sandbox,
and is timed on its own.

Afterwards, the memory of the server and its jails is measured after 20 and after 200 different scripts.

    python -m bench.real    (b), printed as JSON
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sources import TORCH_PROGRAM

from bench.bare import TARGET
from bench.real_scripts import CALLS, PACKAGES
from bench.row import Row
from bench.service import WARM_UP, Service

FOLDER = Path(__file__).parents[1] / ".venv" / "bench-packages"
_MOST_OF_ESSENTIAL, _MOST_OF_ALL, _MOST_WORST = 1.0, 1.5, 1.3
_FEW_SCRIPTS, _MANY_SCRIPTS = 20, 200
_MOST_GROWTH = 1.2


def install() -> None:
    """Download the libraries, unless that is done."""
    tool = Path(__file__).parents[1] / "tools" / "install-packages"
    subprocess.run([sys.executable, tool, FOLDER, *PACKAGES], check=True)


def scripts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script."""
    for path, calls in CALLS.items():
        yield path, f"{(FOLDER / path).read_text()}\n\nimport torch\n{calls}\n"
    yield "torch.compile", TORCH_PROGRAM


def measure_real(service: Service) -> dict[str, Any]:
    """Run the benchmark, print its table, and return the figures, in seconds."""
    command = [sys.executable, "-W", "ignore", "-m", "bench.real"]
    # A process with threads cannot be forked.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    bare: dict[str, dict[str, Any]] = json.loads(printed.splitlines()[-1])
    figures: dict[str, dict[str, Any]] = {}
    first = service.perform({"source": f"{TORCH_PROGRAM}\n# the first", "target": TARGET})
    print(Row("The first program with torch.compile", first.last_event / 1000, "s"), flush=True)
    for name, source in scripts():
        launches = len(bare[name]["compilations"])
        request = {"source": source, "target": TARGET}
        timings = []
        if code := bare[name]["output_code"]:
            program = service.perform(request)
            timings.append(replace(program, essential=program.last_event))
            request |= code
        timings += [service.perform({**request, "launch": launch}) for launch in range(launches)]
        if failed := [timing.id for timing in timings if timing.status not in ("complete", "kernels_found")]:
            raise RuntimeError(f"{name}: {failed} failed")
        alone = bare[name]["script"] + sum(bare[name]["compilations"])
        figures[name] = {
            **bare[name],
            "essential": sum(timing.essential for timing in timings) / 1000 / alone,
            "all": sum(timing.last_event for timing in timings) / 1000 / alone,
            "seconds": [timing.last_event / 1000 for timing in timings],
        }
        print(Row(f"{name}, {launches} launches", figures[name]["essential"], "x"), flush=True)
    for what, asked, ratio in (
        ("essential", _MOST_OF_ESSENTIAL, statistics.median),
        ("essential", _MOST_WORST, max),
        ("all", _MOST_OF_ALL, statistics.median),
    ):
        title = "median" if ratio is statistics.median else "worst"
        found = ratio(each[what] for each in figures.values())
        print(Row(f"Scripts against Triton alone: {what}, {title}", found, "x", asked))
    count = sum(len(each["compilations"]) for each in figures.values())
    total = sum(sum(each["seconds"]) for each in figures.values())
    print(Row(f"All {count} launches of {len(figures)} scripts", total, "s"))
    _measure_memory(service)
    return figures


def _measure_memory(service: Service) -> None:
    """Print the memory after many scripts, relative to the memory after a few."""
    megabytes = {}
    for number in range(_MANY_SCRIPTS):
        # The process of a script that takes so long stays for a while.
        service.compile(f"{WARM_UP}\nimport time\ntime.sleep(0.1)  # {number}\n", TARGET)
        if number + 1 in (_FEW_SCRIPTS, _MANY_SCRIPTS):
            megabytes[number + 1] = sum(service.memory_by_process().values())
            print(Row(f"Memory after {number + 1} different scripts", megabytes[number + 1], "MB"))
    growth = megabytes[_MANY_SCRIPTS] / megabytes[_FEW_SCRIPTS]
    print(Row(f"Memory after {_MANY_SCRIPTS} scripts, against {_FEW_SCRIPTS}", growth, "x", _MOST_GROWTH))


def _measure_alone() -> dict[str, dict[str, Any]]:
    """Execute each script once, and compile its launches with Triton alone: a forked process for each."""
    from explorer.pipeline.job import warm_up

    sys.path.append(str(FOLDER))
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"
    warm_up()
    found = {}
    for name, source in scripts():
        reader, writer = os.pipe()
        if os.fork() == 0:
            with contextlib.redirect_stdout(sys.stderr):
                os.write(writer, json.dumps(_measure_script(source)).encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            found[name] = json.loads(pipe.read())
        os.wait()
    return found


def _measure_script(source: str) -> dict[str, Any]:
    import triton
    from triton import knobs
    from triton.compiler import ASTSource

    from explorer.model import Request
    from explorer.model.hardware import find_target
    from explorer.pipeline.job import warm_up
    from explorer.pipeline.module import load
    from explorer.pipeline.specialize import resolve
    from explorer.pipeline.targets import triton_target

    target = find_target(TARGET)
    warm_up()  # The first compilation of a process takes longer.
    start = time.perf_counter()
    contents = load(source, target)
    code = contents.output_code.request_fields() if contents.output_code else {}
    if code:
        contents = load(code["source"], target, code["files"], code["path"])
    script = time.perf_counter() - start
    compilations = []
    for launch in range(len(contents.launches)):
        chosen = resolve(contents, Request(source, TARGET, "", launch=launch), target)
        start = time.perf_counter()
        kernel = ASTSource(chosen.jit_function, chosen.signature, chosen.constexprs, chosen.attrs)
        compiled = triton.compile(kernel, target=triton_target(target), options=chosen.options)
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(compiled.asm["cubin"])
            file.flush()
            nvdisasm = [knobs.nvidia.nvdisasm.path, "-c", "-gi", file.name]
            subprocess.run(nvdisasm, check=True, stdout=subprocess.DEVNULL)
        compilations.append(time.perf_counter() - start)
    return {"script": script, "compilations": compilations, "output_code": code}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        print(json.dumps(_measure_alone()))
