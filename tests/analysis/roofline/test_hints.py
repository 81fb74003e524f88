"""Test when each hint applies, its line, evidence and greatest gain, and when it does not apply."""

import dataclasses

import pytest
from facts import bare, counters, matmul, samples, timed, vector_add

from explorer.analysis.assembly.heat import HeatDocument, InstructionHeat, LineHeat
from explorer.analysis.roofline.compose import roofline
from explorer.model import Resources, Scalar
from explorer.model.hardware import find_target
from explorer.model.measurements import (
    Autotuning,
    ConfigTiming,
    Counters,
    Counts,
    InstructionSamples,
    LaunchFacts,
    OperationCount,
    RunArgument,
    Samples,
    Sweep,
    SweepPoint,
)


def hint(facts, name):
    return next((each for each in roofline(facts).hints if each.name == name), None)


def sampled(stalls, *instructions, total=1000):
    """Return heat with the given stalls, all at line 7 of the source."""
    return HeatDocument(
        "", "ncu", total, stalls, 0, list(instructions), [LineHeat(7, total, 1.0, stalls)], [], []
    )


def instruction(line, sectors, ideal, offset=0, taken=0):
    return InstructionHeat(1, taken, 0.0, {}, offset, line, 10, sectors, ideal)


def test_a_load_with_a_stride_uses_4_of_32_bytes():
    """Of 900 sectors, line 12 requests 800 and needs 100."""
    heat = sampled({}, instruction(12, 800, 100), instruction(14, 100, 100))
    found = hint(vector_add(heat=heat, timings=timed(2_000_000.0)), "scattered")
    assert (found.source_line, found.title) == (12, "Line 12 uses 4 of every 32 bytes that it transfers")
    assert found.gain_ns == pytest.approx(2_000_000 * 700 / 900)
    assert [each.value for each in found.evidence] == [800, 100, 800 / 900]
    assert {each.source for each in found.evidence} == {"measured"}


def test_the_interpreter_sees_a_stride_too():
    operations = (OperationCount(12, "load", 1, 4096, 1024), OperationCount(13, "store", 1, 4096, 128))
    counts = Counts(1, 1, operations, 4096, 4096, 1024, 128, 1152, {})
    found = hint(bare(counts=counts), "scattered")
    assert (found.source_line, found.gain_ns) == (12, None)
    assert found.evidence[0].source == "counted"


def test_what_is_coalesced_needs_no_hint():
    assert hint(vector_add(heat=sampled({}, instruction(12, 100, 100))), "scattered") is None
    masked = (OperationCount(12, "load", 1, 4000, 126),)
    assert hint(bare(counts=Counts(1, 1, masked, 4000, 0, 126, 0, 126, {})), "scattered") is None


def test_what_each_program_stores_once_needs_no_hint():
    """A row's sum uses 4 of 32 bytes: 7/8 of 1,024 sectors are wasted, of four million requested."""
    row, total = OperationCount(12, "load", 1024, 2**27, 2**22), OperationCount(13, "store", 1024, 4096, 1024)
    counts = Counts(1024, 1024, (row, total), 2**27, 4096, 2**22, 1024, 2**22 + 128, {})
    assert hint(bare(counts=counts), "scattered") is None


def test_a_dot_without_matrix_units():
    """2^40 operations in fp32 take 16.4 ms; on the matrix units in tf32 2.2 ms."""
    source = ("import triton", "    # tl.dot(a, b)", "    c += tl.dot(a, b, input_precision='ieee')")
    slow = Counters("", "ncu", bytes={"dram": 1e9}, operations={"fp32": 2.0**40})
    launch = LaunchFacts("k", 1, (4096,), ())
    facts = vector_add(counters=slow, timings=timed(2e7), source_lines=source, launch=launch)
    found = hint(facts, "missing_tensor_cores")
    assert found.source_line == 3
    assert "tf32" in found.text
    other = dataclasses.replace(facts, environment=None, target=find_target("hip:gfx1100"))
    assert "tf32" not in hint(other, "missing_tensor_cores").text
    assert found.gain_ns == pytest.approx(2**40 / 66.908e12 * 1e9 - 2**40 / 494.7e12 * 1e9, rel=0.001)
    assert hint(dataclasses.replace(facts, tensor_instructions=True), "missing_tensor_cores") is None
    assert hint(dataclasses.replace(facts, source_lines=("x = 1",)), "missing_tensor_cores") is None


def test_spills_with_the_samples_at_them():
    taken = Samples("", "ncu", (
        InstructionSamples(0, "STL [R1], R2", 30, {}), InstructionSamples(16, "FADD R1, R2, R3", 970, {}),
    ))  # fmt: skip
    heat = sampled({}, instruction(5, None, None, 0, 30), instruction(6, None, None, 16, 970))
    resources = Resources(
        registers=255, shared_bytes=0, threads=128, spill_stores_bytes=16, spill_loads_bytes=48
    )
    found = hint(vector_add(samples=taken, heat=heat, resources=resources), "spills")
    assert (found.title, found.source_line) == ("Spills of a thread store 16 bytes and load 48", 5)
    assert found.gain_ns == pytest.approx(0.03 * 735_000)
    none = dataclasses.replace(resources, spill_stores_bytes=0, spill_loads_bytes=0)
    assert hint(vector_add(samples=taken, heat=heat, resources=none), "spills") is None


def test_bank_conflicts():
    """2^27 wavefronts too many: a clock of 132 multiprocessors for each 132."""
    name = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"
    counted = counters("matmul", tensor_fp16=2.0 * 8192**3)
    conflicts = {**counted.metrics, name: 2.0**27}
    found = hint(matmul(counters=dataclasses.replace(counted, metrics=conflicts)), "bank_conflicts")
    assert found.gain_ns == pytest.approx(2**27 / (132 * 1.40029))
    assert found.title.startswith("Bank conflicts cause 64 %")
    assert hint(matmul(), "bank_conflicts") is None


def test_many_warps_that_wait_at_barriers():
    """The tensors of 3 GiB need DRAM for 0.671 ms of the 1.5, which no configuration saves."""
    stalls = {"barrier": 300, "short_scoreboard": 200, "wait": 500}
    many = Resources(registers=26, shared_bytes=128, threads=512)
    known = {"heat": sampled(stalls), "timings": timed(1_500_000.0), "resources": many}
    found = hint(vector_add(**known), "barriers")
    assert (found.title, found.source_line) == (
        "The 16 warps of a block wait at barriers in 30 % of the samples",
        7,
    )
    assert [each.value for each in found.evidence] == [0.3, 0.5, 16]
    assert found.gain_ns == pytest.approx(1_500_000 - 3 * 2**30 / 4.8e12 * 1e9)
    assert "registers" in found.cost
    few = dataclasses.replace(many, threads=128)
    assert hint(vector_add(**{**known, "resources": few}), "barriers") is None
    assert hint(vector_add(**{**known, "heat": sampled({"barrier": 50, "wait": 950})}), "barriers") is None
    assert hint(matmul(heat=sampled(stalls)), "barriers") is None


WAITING = {"long_sb": 800, "wait": 200}


def test_a_full_gpu_with_little_in_flight():
    slow = vector_add(timings=timed(1_500_000.0), heat=sampled(WAITING))
    found = hint(slow, "bytes_in_flight")
    assert found.source_line == 7
    assert found.gain_ns == pytest.approx(1_500_000 - 3 * 2**30 / 4.8e12 * 1e9)
    # Memory is busy, or few warps fit, or a multiprocessor has no block.
    assert hint(vector_add(heat=sampled(WAITING)), "bytes_in_flight") is None
    large = Resources(registers=255, shared_bytes=0, threads=128)
    assert hint(dataclasses.replace(slow, resources=large), "bytes_in_flight") is None
    few = dataclasses.replace(vector_add().launch, grid=(100,))
    assert hint(dataclasses.replace(slow, launch=few), "bytes_in_flight") is None


def test_warps_with_many_registers():
    large = Resources(registers=255, shared_bytes=0, threads=128)
    slow = vector_add(timings=timed(1_500_000.0), heat=sampled(WAITING), resources=large)
    found = hint(slow, "large_tiles")
    assert found.title.startswith("Registers limit the occupancy to 12 %")
    assert "num_warps" in found.text
    assert hint(dataclasses.replace(slow, timings=timed(800_000.0)), "large_tiles") is None


@pytest.mark.parametrize(("stages", "is_shown"), [(None, False), (1, True), (2, True), (3, False)])
def test_few_pipeline_stages(stages, is_shown):
    """A block has 49,152 bytes for each of two stages: with three, one block fits in place of two."""
    waiting = sampled({"long_sb": 300, "barrier": 200, "wait": 500})
    found = hint(matmul(heat=waiting, stages=stages, timings=timed(2_000_000.0)), "pipeline_stages")
    assert (found is not None) == is_shown
    if stages == 2:
        assert found.cost.startswith(
            "Each stage takes about 49,152 bytes of shared memory per block: with 3 stages, 1"
        )
        # The matrix units need 1.111 ms by the datasheet.
        assert found.gain_ns == pytest.approx(2_000_000 - 1_111_258, rel=0.001)


def test_memory_that_is_busy_is_not_latency():
    assert roofline(vector_add(heat=sampled(WAITING))).hints == []


def test_a_small_grid():
    launch = dataclasses.replace(vector_add().launch, grid=(33,))
    found = hint(vector_add(launch=launch, timings=timed(10_000_000.0)), "idle_multiprocessors")
    assert found.title == "33 blocks leave 99 of 132 multiprocessors idle"
    assert found.gain_ns == pytest.approx(10_000_000 - 672_038, rel=0.001)
    # DRAM is busy for 0.672 ms in any case, and a grid of 120 is nearly full.
    assert hint(vector_add(launch=launch), "idle_multiprocessors") is None
    nearly = dataclasses.replace(launch, grid=(120,))
    assert hint(vector_add(launch=nearly, timings=timed(10_000_000.0)), "idle_multiprocessors") is None


@pytest.mark.parametrize(("rate", "is_shown"), [(100.0, False), (400.0, True)])
def test_a_sweep_shows_whether_a_larger_grid_is_faster(rate, is_shown):
    points = tuple(
        SweepPoint({"size": size}, (value,), (value,), (value,))
        for size, value in ((33.0, 98.0), (330.0, rate))
    )
    sweep = Sweep("add", ("size",), ("triton",), "GB/s", True, points)
    launch = dataclasses.replace(vector_add().launch, grid=(33,))
    slow = vector_add(launch=launch, timings=timed(10_000_000.0), sweep=sweep, sizes={"size": 33})
    assert (hint(slow, "idle_multiprocessors") is not None) == is_shown


def test_bytes_that_come_from_dram_again():
    """3.2 GB from DRAM, where the tensor holds 1.07."""
    launch = LaunchFacts("k", 1, (262_144,), (RunArgument("x", "*fp32", None, (2**28,), (1,)),))
    found = hint(vector_add(launch=launch), "reuse")
    assert found.title == "DRAM transfers 3.23 GB, the tensors have 1.07 GB"
    l2 = 3_221_225_472 / (6016 * 1.705)
    assert found.gain_ns == pytest.approx(672_038 - l2, rel=0.001)
    assert hint(vector_add(), "reuse") is None


SMALL_BLOCKS = Resources(registers=80, shared_bytes=49_152, threads=128)


def test_bytes_that_come_from_the_l2_again():
    """No configuration saves the time of the matrix units, 1.111 ms of 1.724."""
    found = hint(matmul(resources=SMALL_BLOCKS), "reuse")
    assert found.title == "The L2 transfers 15.1 GB for 1.63 GB from DRAM"
    assert found.gain_ns == pytest.approx(1_724_000 - 1_111_258, rel=0.001)
    # Blocks larger than 128 × 128 with three stages do not fit, and 400 have no room in a grid.
    assert hint(matmul(), "reuse") is None
    few = dataclasses.replace(matmul().launch, grid=(400,))
    assert hint(matmul(resources=SMALL_BLOCKS, launch=few), "reuse") is None


def test_bytes_that_are_asked_for_in_vain_are_not_the_same_bytes():
    wasted = sampled({}, instruction(12, 800, 100))
    assert hint(matmul(resources=SMALL_BLOCKS, heat=wasted), "reuse") is None


def test_instructions():
    metrics = {"smsp__issue_active.avg.pct_of_peak_sustained_active": 81.0, "smsp__inst_executed.sum": 6e8}
    busy = Counters("", "ncu", bytes={"dram": 1e9}, operations={"fp32": 1e10}, metrics=metrics)
    found = hint(vector_add(counters=busy), "instructions")
    assert found.title == "The schedulers issue an instruction in 81 % of the cycles"
    assert found.gain_ns == pytest.approx(0.81 * 735_000 - 1e9 / 4.8e3)
    assert hint(vector_add(), "instructions") is None


def test_tf32_where_bf16_would_do():
    """2^39 operations at 494.7 TFLOP/s take 1.11 ms, in bf16 half of that."""
    slow = Counters("", "ncu", bytes={"dram": 1e8}, operations={"tensor tf32": 2.0**39})
    found = hint(matmul(counters=slow, timings=timed(1_500_000.0)), "cheaper_type")
    assert found.title == "bf16 has 2 times the rate of tf32"
    assert found.gain_ns == pytest.approx(2**39 / 494.7e12 * 1e9 / 2, rel=0.001)


def test_the_three_that_bring_most_come_first_and_all_have_evidence():
    heat = sampled({"barrier": 300, "long_sb": 500, "wait": 200}, instruction(12, 800, 100))
    many = Resources(registers=40, shared_bytes=128, threads=512, spill_stores_bytes=64, spill_loads_bytes=64)
    found = roofline(vector_add(heat=heat, timings=timed(3_000_000.0), resources=many)).hints
    assert [each.name for each in found] == ["scattered", "barriers", "spills"]
    gains = [each.gain_share or 0.0 for each in found]
    assert gains == sorted(gains, reverse=True)
    assert all(each.evidence and each.cost for each in found)


def test_recorded_samples_lead_to_no_hint_that_nothing_supports():
    """A matmul with three stages waits at barriers; no configuration is known to be better."""
    taken = samples("matmul")
    stalls: dict[str, int] = {}
    for each in taken.instructions:
        for name, count in each.stalls.items():
            stalls[name] = stalls.get(name, 0) + count
    total = sum(each.samples for each in taken.instructions)
    known = {"samples": taken, "heat": sampled(stalls, total=total), "stages": 3}
    assert roofline(matmul(**known)).hints == []


def test_a_table_with_absurd_numbers_is_no_error():
    huge: dict[str, Scalar] = {"BLOCK_M": 10**5000, "num_warps": -(10**5000), "num_stages": 10**400}
    table = Autotuning(
        (ConfigTiming(0, huge, huge, 2e6, 2e6, 2e6), ConfigTiming(1, {}, {}, 1e6, 1e6, 1e6)), 1
    )
    launch = dataclasses.replace(vector_add().launch, config=0)
    slow = vector_add(launch=launch, timings=timed(2_000_000.0), heat=sampled(WAITING), autotuning=table)
    assert hint(slow, "configurations").gain_ns == pytest.approx(1_000_000)
