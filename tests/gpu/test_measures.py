"""On a GPU: test measurements against other tools, and that a failing kernel affects nothing else."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from explorer.examples import load_examples
from explorer.model import Original, Request, Run, to_plain
from explorer.runner.profilers import nsight_compute

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]
needs_ncu = pytest.mark.skipif(nsight_compute.find() is None, reason="needs Nsight Compute")

ROOT = Path(__file__).parents[2]
ELEMENTS = 2**26
SOURCES = {example.name: example.source for example in load_examples()}
WITHOUT_NSIGHT_COMPUTE = """
from explorer.runner.profilers import nsight_compute
nsight_compute.find = lambda: None
from explorer.runner.__main__ import main
main()
"""
RUN_HEADER = "import torch, triton\nimport triton.language as tl\n"
ILLEGAL = (
    RUN_HEADER
    + """
@triton.jit
def kernel(x):
    tl.store(x + (1 << 40) + tl.arange(0, 128), 1.0)

kernel[(1,)](torch.empty(128, device="cuda"))
"""
)
HANGING = (
    RUN_HEADER
    + """
@triton.jit
def kernel(x):
    while tl.load(x, volatile=True) == 0:
        pass

kernel[(1,)](torch.zeros(1, device="cuda", dtype=torch.int32))
"""
)
SCOPES = (
    RUN_HEADER
    + """
import triton.profiler.language as pl

@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    with pl.scope("load"):
        values = tl.load(x + offsets)
    with pl.scope("store"):
        tl.store(y + offsets, 2 * values)

x = torch.randn(8192, device="cuda")
kernel[(8,)](x, torch.empty_like(x), BLOCK=1024, num_warps=4)
"""
)

UNSET = (
    RUN_HEADER
    + """
@triton.jit
def kernel(x, y, out, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets) + tl.load(y + offsets))

def reference(x, y):
    return x + y

x, y = torch.empty(4096, device="cuda"), torch.randn(4096, device="cuda")
kernel[(4,)](x, y, torch.empty_like(x), BLOCK=1024)
"""
)
#: The second configuration needs more shared memory than there is, the third writes far outside.
TUNED = (
    RUN_HEADER
    + """
@triton.autotune(
    [
        triton.Config({"OFFSET": 0}, num_stages=1),
        triton.Config({"OFFSET": 0}, num_stages=8),
        triton.Config({"OFFSET": 1 << 40}, num_stages=1),
        triton.Config({"OFFSET": 0}, num_stages=2),
    ],
    key=[],
)
@triton.jit
def kernel(x, y, steps, OFFSET: tl.constexpr):
    rows = tl.arange(0, 128)
    tile = rows[:, None] * 128 + rows[None, :]
    total = tl.zeros((128, 128), tl.float32)
    for step in range(steps):
        total = tl.dot(tl.load(x + step * 16384 + tile), tl.load(y + step * 16384 + tile), total)
    tl.store(x + OFFSET + tile, total.to(tl.float16))

x = torch.randn((16, 128, 128), device="cuda", dtype=torch.float16)
kernel[(1,)](x, torch.randn_like(x), 16)
"""
)


def request(source, measures, **run):
    major, minor = torch.cuda.get_device_capability()
    asked = Run("gpu", measures, **run)
    return json.dumps(to_plain(Request(source, f"cuda:{major}{minor}", "", task="run", run=asked)))


def perform(source, *measures, command=("-m", "explorer.runner"), timeout=200, **run):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        input=request(source, measures, **run),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert events, done.stderr[-3000:]
    documents = {
        event["name"]: json.loads(event["document"]) for event in events if event["event"] == "measurement"
    }
    return documents, events


def add(*measures, **more):
    documents, events = perform(
        SOURCES["vector_add"], *measures, is_benchmark=True, sizes={"size": ELEMENTS}, **more
    )
    assert events[-1]["status"] == "complete", events[-5:]
    return documents


def test_time_is_that_of_protons_own_measurement():
    documents = add("time")
    printed = subprocess.run(
        [sys.executable, "tests/gpu/proton_of_add.py", str(ELEMENTS), "100"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    ).stdout
    metrics = json.loads(printed.splitlines()[-1])
    by_proton_ns = metrics["time (ns)"] / metrics["count"]
    timings = {(each["method"], each["cache"]): each for each in documents["timings"]["timings"]}
    print(by_proton_ns, {key: each["median_ns"] for key, each in timings.items()})
    assert timings["proton", "warm"]["median_ns"] == pytest.approx(by_proton_ns, rel=0.03)
    assert len(timings["proton", "warm"]["samples_ns"]) == len(timings["proton", "cold"]["samples_ns"]) == 50
    assert documents["environment"]["gpu"] == torch.cuda.get_device_name()
    before, after = documents["environment"]["conditions"]
    assert (before["moment"], after["moment"]) == ("before", "after")
    assert after["sm_clock_mhz"] > 0


def dram_bytes_by_ncu():
    command = [
        *(str(nsight_compute.find()), "--kernel-name", "add_kernel", "--launch-skip", "10"),
        *(
            "--launch-count",
            "1",
            "--clock-control",
            "none",
            "--print-units",
            "base",
            "--csv",
            "--page",
            "raw",
        ),
        *("--metrics", "dram__bytes.sum", sys.executable, "tests/gpu/proton_of_add.py", str(ELEMENTS)),
    ]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200).stdout
    rows = [row for row in csv.reader(printed.splitlines()) if len(row) > 10]
    header, _units, values = rows[:3]
    return float(values[header.index("dram__bytes.sum")].replace(",", ""))


@needs_ncu
def test_bytes_and_operations_of_an_addition():
    documents = add("counters", "samples")
    assert [file["name"] for file in documents["files"]["files"]] == ["profile.ncu-rep"]
    counters = documents["counters"]
    assert counters["reason"] == ""
    assert counters["bytes"]["dram"] == pytest.approx(dram_bytes_by_ncu(), rel=0.02)
    assert counters["bytes"]["l1"] == counters["bytes"]["l2"] == 3 * 4 * ELEMENTS
    assert counters["bytes"]["shared"] == 0
    assert counters["operations"]["fp32"] == ELEMENTS
    instructions = documents["samples"]["instructions"]
    assert [each["offset_bytes"] for each in instructions] == list(range(0, 16 * len(instructions), 16))
    assert sum(each["samples"] for each in instructions) > 100
    assert sum(each["sectors"] or 0 for each in instructions) == 3 * 4 * ELEMENTS // 32
    assert sum(each["sectors_ideal"] or 0 for each in instructions) == 3 * 4 * ELEMENTS // 32


@needs_ncu
def test_operations_of_a_matmul_are_exact():
    documents, _ = perform(SOURCES["matmul"], "counters")
    counters = documents["counters"]
    tensor = {kind: count for kind, count in counters["operations"].items() if kind.startswith("tensor")}
    assert tensor == {"tensor fp16": 2 * 2048**3}
    assert 0 < counters["pipes"]["tensor"] <= 1


def test_counters_without_nsight_compute():
    documents = add("time", "counters", "samples", command=("-c", WITHOUT_NSIGHT_COMPUTE))
    counters = documents["counters"]
    assert counters["reason"] == ""
    assert counters["tool"].startswith("CUPTI")
    assert counters["bytes"]["l1"] == 3 * 4 * ELEMENTS
    assert counters["bytes"]["dram"] == pytest.approx(3 * 4 * ELEMENTS, rel=0.1)
    assert counters["operations"]["fp32"] == ELEMENTS
    assert max(counters["stalls"], key=counters["stalls"].get) == "long_scoreboard"
    instructions = documents["samples"]["instructions"]
    assert documents["samples"]["reason"] == ""
    assert [each["offset_bytes"] for each in instructions] == list(range(0, 16 * len(instructions), 16))
    waiting = max(instructions, key=lambda each: each["stalls"].get("long_scoreboard", 0))
    assert "FADD" in waiting["instruction"], "the addition waits for what is loaded"
    assert sum(each["samples"] for each in instructions) == sum(counters["stalls"].values())


def test_every_configuration_of_a_matmul_is_timed():
    documents, _ = perform(SOURCES["matmul"], "autotune", "time")
    configs = documents["autotuning"]["configs"]
    medians = {each["config"]: each["median_ns"] for each in configs if not each["problem"]}
    assert len(configs) == 7
    assert min(medians, key=medians.get) == documents["autotuning"]["best"]


def test_what_nothing_has_set_is_said_and_is_the_same_in_every_run():
    documents, events = perform(UNSET, "check")
    (warning,) = [event for event in events if event["event"] == "diagnostic"]
    assert warning["severity"] == "warning" and warning["message"].startswith("x is uninitialized, before")
    assert documents["check"]["outputs"][0]["matches"]
    assert perform(UNSET, "check")[0]["check"] == documents["check"]


@pytest.mark.parametrize(("changed", "matches"), [("y + x", True), ("x - y", False)])
def test_the_results_of_another_form_of_the_kernel_are_the_reference(changed, matches):
    source = SOURCES["vector_add"]
    assert source.count("x + y, mask=mask") == 1
    other = source.replace("x + y, mask=mask", f"{changed}, mask=mask")
    documents, _ = perform(other, "check", original=Original(source))
    (output,) = documents["check"]["outputs"]
    assert (documents["check"]["reference"], output["matches"]) == ("the original kernel", matches)


def test_options_of_a_compilation_are_the_options_of_its_run():
    body = json.loads(request(SOURCES["vector_add"], ["time"]))
    encoded = json.dumps({**body, "options": {"num_warps": 8}})
    command = [sys.executable, "-m", "explorer.runner"]
    done = subprocess.run(command, cwd=ROOT, input=encoded, capture_output=True, text=True, timeout=200)
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    (launch,) = [each for each in events if each.get("name") == "launch"]
    assert json.loads(launch["document"])["options"]["num_warps"] == 8


def test_a_configuration_that_fails_costs_its_row_and_the_measures_after_it():
    documents, events = perform(TUNED, "autotune", "time", "roofs")
    tuning = documents["autotuning"]
    timed, shared, illegal, left = tuning["configs"]
    assert timed["median_ns"] > 0 and tuning["best"] == 0
    assert "shared memory" in shared["problem"] and shared["median_ns"] is None
    assert "illegal memory access" in illegal["problem"]
    assert "with configuration 2" in left["problem"]
    # The order of measures is fixed. "time" comes first, so its document stands; for "roofs" the GPU is lost.
    assert events[-1]["status"] == "failed"
    assert all(each["median_ns"] > 0 for each in documents["timings"]["timings"])
    assert "roofs" not in documents


def test_a_sweep_has_every_line_at_every_size():
    documents, _ = perform(SOURCES["vector_add"], "sweep", sweep_values=(2**18, 2**24))
    sweep = documents["sweep"]
    assert sweep["unit"] == "GB/s"
    assert [point["sizes"]["size"] for point in sweep["points"]] == [2**18, 2**24]
    assert all(value > 0 for point in sweep["points"] for value in point["values"])
    assert sweep["problems"] == []


def test_timeline_of_a_kernel_that_marks_scopes():
    documents, _ = perform(SCOPES, "time", "timeline")
    timeline = documents["timeline"]
    assert timeline["reason"] == ""
    places = {(scope["block"], scope["warp"], scope["name"]) for scope in timeline["scopes"]}
    assert places == {
        (block, warp, name) for block in range(8) for warp in range(4) for name in ("load", "store")
    }
    assert all(scope["duration_ns"] > 0 for scope in timeline["scopes"])
    assert {file["name"] for file in documents["files"]["files"]} >= {"proton.hatchet"}


def test_roofs_of_this_gpu():
    documents, _ = perform(SOURCES["vector_add"], "roofs")
    roofs = documents["roofs"]["roofs"]
    rates = {roof["name"]: roof["rate"] for roof in roofs}
    print(roofs)
    copied, read = (roof for roof in roofs if roof["name"] == "dram")
    assert copied["method"].startswith("copy of") and read["method"].startswith("reads of")
    # Both take their time from DRAM; reads, among which no writes come, are as fast at least.
    assert 0.95 * copied["rate"] < read["rate"] < 1.5 * copied["rate"]
    assert rates["l2"] > rates["dram"] > 1e11
    assert rates["tensor fp16"] > rates["fp32"] > 1e12


def test_after_an_illegal_access_the_next_run_works():
    _, events = perform(ILLEGAL, "check", "time")
    assert events[-1]["status"] == "failed"
    messages = [event["message"] for event in events if event["event"] == "diagnostic"]
    assert any("illegal memory access" in message for message in messages), messages
    assert add("time")["timings"]["timings"]


def test_after_a_hanging_kernel_is_killed_the_next_run_works():
    with pytest.raises(subprocess.TimeoutExpired):
        perform(HANGING, "time", timeout=15)
    assert add("time")["timings"]["timings"]
