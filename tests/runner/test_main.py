"""Test the command that executes one run outside of the sandbox, and its warm-up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.examples import find_example
from explorer.model import Request, Run, to_plain

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


def test_a_run_by_hand_prints_events(tmp_path):
    run = Run("interpreter", measures=("check",), is_benchmark=True, sizes={"size": 1000})
    request = Request(find_example("vector_add").source, "cuda:90", "", task="run", run=run)
    done = subprocess.run(
        [sys.executable, "-m", "explorer.runner"],
        input=json.dumps(to_plain(request)).encode(),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [(event["event"], event.get("name", "")) for event in events]
    assert [kind for kind in kinds if kind[0] != "progress"] == [
        ("measurement", "launch"),
        ("measurement", "environment"),
        ("measurement", "check"),
        ("done", ""),
    ]
    steps = [event["done"] for event in events if event["event"] == "progress"]
    assert steps == sorted(steps) and steps[0] == 0 and steps[-1] == 2000
    environment = json.loads(next(e["document"] for e in events if e.get("name") == "environment"))
    assert (environment["gpu"], environment["binary_sha256"]) == ("", "")
    assert environment["triton"] and environment["torch"]


def test_warming_up_leaves_one_thread_and_no_gpu(tmp_path):
    code = (
        "import os, torch\n"
        "from explorer.runner.job import warm_up\n"
        "warm_up()\n"
        "assert not torch.cuda.is_initialized()\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    environment = {**os.environ, **one_thread, "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert done.stdout == "1\n", done.stderr
