"""On a GPU: test that the script's launch is selected, runs the shown binary, and is correct."""

import base64
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import triton

from explorer.examples import EXAMPLES, find_example
from explorer.model import Request, Run, to_plain

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

ROOT = Path(__file__).parents[2]
AFTER_WARM_UP = """
import torch, triton
import triton.language as tl

@triton.jit
def fill(x_ptr, value, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), value)

x = torch.zeros(128, device="cuda")
kernel = fill.warmup(x, 2.5, BLOCK=64, grid=(1,))
kernel._init_handles()
kernel[(2, 1, 1)](x, 2.5, 64)
assert bool((x == 2.5).all())
"""


def perform(module, source, run=None, **more):
    major, minor = torch.cuda.get_device_capability()
    task = "compile" if run is None else "run"
    request = Request(source, f"cuda:{major}{minor}", triton.__version__, task=task, run=run, **more)
    done = subprocess.run(
        [sys.executable, "-m", module],
        cwd=ROOT,
        input=json.dumps(to_plain(request)),
        capture_output=True,
        text=True,
        timeout=200,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert events, done.stderr[-3000:]
    return events


def documents(events):
    assert events[-1]["status"] == "complete", events[-5:]
    return {
        event["name"]: json.loads(event["document"]) for event in events if event["event"] == "measurement"
    }


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_the_binary_that_is_shown_and_match(name):
    source = find_example(name).source
    told = documents(perform("explorer.runner", source, Run("gpu", ("check",))))
    assert told["check"]["outputs"]
    assert all(output["matches"] for output in told["check"]["outputs"]), told["check"]
    (binary,) = [event for event in perform("explorer.pipeline", source) if event["event"] == "binary"]
    shown = hashlib.sha256(base64.b64decode(binary["data"])).hexdigest()
    assert told["environment"]["binary_sha256"] == shown


def test_the_configuration_and_the_options_asked_for():
    run = Run("gpu", ("check",))
    source = find_example("matmul").source
    told = documents(perform("explorer.runner", source, run, config=1, options={"num_stages": 2}))
    assert told["launch"]["config"] == 1
    assert told["launch"]["options"]["num_stages"] == 2
    assert told["check"]["outputs"][0]["matches"]


def test_what_was_compiled_before_can_be_launched():
    told = documents(perform("explorer.runner", AFTER_WARM_UP, Run("gpu", ("check",), reference="x + 2.5")))
    assert told["launch"]["grid"] == [2, 1, 1]
    assert told["check"]["outputs"][0]["matches"]


def test_tensors_that_are_too_large():
    source = find_example("vector_add").source.replace("torch.randn(1_000_000,", "torch.randn(10**12,")
    events = perform("explorer.runner", source, Run("gpu", ("check",)))
    assert events[-1]["status"] == "failed"
    (error,) = [event for event in events if event["event"] == "diagnostic"]
    assert error["message"] == "The tensors do not fit in the GPU's memory."
