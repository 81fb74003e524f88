"""On a GPU: test that the fake GPU finds the launches that really happen.

Every gallery script runs on the GPU. Every launch that the pipeline finds in it must compile to exactly the
TTGIR of the just-in-time compiler: the same types, alignments, options and configuration.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from explorer.examples import load_examples

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

ROOT = Path(__file__).parents[2]


def run(*arguments, given=""):
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, input=given, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def explore(source, target, **fields):
    return run(
        "-m",
        "explorer.pipeline",
        given=json.dumps({"source": source, "target": target, "triton": "", **fields}),
    )


@pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)
def test_found_launches_are_the_real_ones(example):
    major, minor = torch.cuda.get_device_capability()
    target = f"cuda:{major}{minor}"
    real = run("tests/gpu/real_launches.py", example.name)
    (inspection,) = [
        event for event in explore(example.source, target, task="inspect") if event["event"] == "inspection"
    ]
    assert {launch["kernel"] for launch in inspection["launches"]} == {kernel["kernel"] for kernel in real}
    for launch in inspection["launches"]:
        events = explore(example.source, target, launch=launch["index"])
        (ttgir,) = [
            event["text"] for event in events if event["event"] == "stage" and event["name"] == "ttgir"
        ]
        assert ttgir in [kernel["ttgir"] for kernel in real if kernel["kernel"] == launch["kernel"]]
        assert events[-1]["status"] == "complete"
