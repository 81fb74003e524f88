"""Each hint: where it is due, its line, its evidence and the most that it can bring; and where it is not."""

import dataclasses

import pytest
from facts import bare, counters, matmul, samples, timed, vector_add

from explorer.analysis.heat import HeatDocument, InstructionHeat, LineHeat
from explorer.analysis.roofline.roofline import roofline
from explorer.measurements import (
    Counters,
    Counts,
    InstructionSamples,
    LaunchFacts,
    OperationCount,
    RunArgument,
    Samples,
)
from explorer.model import Resources


def hint(facts, name):
    return next((each for each in roofline(facts).hints if each.name == name), None)


def sampled(stalls, *instructions, total=1000):
    """Heat with those stalls, all of them at line 7 of the source."""
    return HeatDocument(
        "", "ncu", total, stalls, 0, list(instructions), [LineHeat(7, total, 1.0, stalls)], [], []
    )


def instruction(line, sectors, ideal, offset=0, taken=0):
    return InstructionHeat(1, taken, 0.0, {}, offset, line, 10, sectors, ideal)


def test_a_load_with_a_stride_uses_4_of_32_bytes():
    """Of 900 sectors in all, line 12 asks for 800 and needs 100."""
    heat = sampled({}, instruction(12, 800, 100), instruction(14, 100, 100))
    found = hint(vector_add(heat=heat, timings=timed(2_000_000.0)), "scattered")
    assert (found.source_line, found.title) == (12, "Line 12 uses 4 of each 32 bytes that it asks for")
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
    """A row's sum, 4 of 32 bytes: 7 / 8 of 1,024 sectors are wasted, of four million that are asked for."""
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
    assert (found.title, found.source_line) == ("64 bytes of registers are spilled", 5)
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
    assert found.title.startswith("64 %")
    assert hint(matmul(), "bank_conflicts") is None


def test_barriers():
    found = hint(matmul(heat=sampled({"barrier": 300, "wait": 700})), "barriers")
    assert found.source_line == 7
    # The L2 needs 1.473 ms of the 1.724: no more than the rest can be won.
    assert found.gain_ns == pytest.approx(1_724_000 - 1_473_473, rel=0.001)
    assert hint(matmul(heat=sampled({"barrier": 100, "wait": 900})), "barriers") is None


@pytest.mark.parametrize(
    ("resources", "title"),
    [
        (
            Resources(registers=122, shared_bytes=98_304, threads=256),
            "Occupancy of 25 %, limited by registers",
        ),
        (Resources(registers=26, shared_bytes=0, threads=128), "Warps wait for memory that is not busy"),
    ],
)
def test_latency(resources, title):
    slow = vector_add(
        timings=timed(1_500_000.0), heat=sampled({"long_sb": 800, "wait": 200}), resources=resources
    )
    found = hint(slow, "latency")
    assert found.title.startswith(title)
    assert found.source_line == 7
    assert found.gain_ns == pytest.approx(1_500_000 - 672_038, rel=0.001)


def test_memory_that_is_busy_is_not_latency():
    assert hint(vector_add(heat=sampled({"long_sb": 800, "wait": 200})), "latency") is None


def test_a_small_grid():
    launch = dataclasses.replace(vector_add().launch, grid=(33,))
    found = hint(vector_add(launch=launch, timings=timed(10_000_000.0)), "filling")
    assert found.title == "33 blocks leave 99 of 132 multiprocessors idle"
    assert found.gain_ns == pytest.approx(0.75 * 10_000_000)
    # DRAM needs 0.672 ms in any case.
    near = hint(vector_add(launch=launch), "filling")
    assert near.gain_ns == pytest.approx(735_000 - 672_038, rel=0.001)


def test_bytes_that_come_from_dram_again():
    """3.2 GB from DRAM, where the tensor holds 1.07."""
    launch = LaunchFacts("k", 1, (262_144,), (RunArgument("x", "*fp32", None, (2**28,), (1,)),))
    found = hint(vector_add(launch=launch), "reuse")
    assert found.title == "DRAM moves 3.23 GB, the tensors hold 1.07 GB"
    l2 = 3_221_225_472 / (6016 * 1.705)
    assert found.gain_ns == pytest.approx(672_038 - l2, rel=0.001)
    assert hint(vector_add(), "reuse") is None


def test_bytes_that_come_from_the_l2_again():
    found = hint(matmul(), "reuse")
    assert found.title == "The L2 moves 15.1 GB for 1.63 GB from DRAM"
    assert found.gain_ns == pytest.approx(1_473_473 - 1_111_258, rel=0.001)


def test_bytes_that_are_asked_for_in_vain_are_not_the_same_bytes():
    assert hint(matmul(heat=sampled({}, instruction(12, 800, 100))), "reuse") is None


def test_matrix_units_that_wait_for_exponentials():
    """45 and 48 % of the time: together 93."""
    pipes = {"tensor": 0.45, "xu": 0.48, "alu": 0.2}
    busy = dataclasses.replace(matmul().counters, pipes=pipes, bytes={"dram": 1e8})
    found = hint(matmul(counters=busy, timings=timed(2_500_000.0)), "turns")
    assert found.title == "Matrix units (45 %) and XU pipe (special functions) (48 %) seem to take turns"
    assert found.gain_ns == pytest.approx(2_500_000 * (1 - 0.48))
    apart = dataclasses.replace(busy, pipes={**pipes, "xu": 0.3})
    assert hint(matmul(counters=apart, timings=timed(2_500_000.0)), "turns") is None


def test_instructions():
    metrics = {"smsp__issue_active.avg.pct_of_peak_sustained_active": 81.0, "smsp__inst_executed.sum": 6e8}
    busy = Counters("", "ncu", bytes={"dram": 1e9}, operations={"fp32": 1e10}, metrics=metrics)
    found = hint(vector_add(counters=busy), "instructions")
    assert found.title == "The schedulers issue an instruction in 81 % of the clocks"
    assert found.gain_ns == pytest.approx(0.81 * 735_000 - 1e9 / 4.8e3)
    assert hint(vector_add(), "instructions") is None


def test_tf32_where_bf16_would_do():
    """2^39 operations at 494.7 TFLOP/s take 1.11 ms, in bf16 half of that."""
    slow = Counters("", "ncu", bytes={"dram": 1e8}, operations={"tensor tf32": 2.0**39})
    found = hint(matmul(counters=slow, timings=timed(1_500_000.0)), "cheaper_type")
    assert found.title == "bf16 would have 2 times the rate of tf32"
    assert found.gain_ns == pytest.approx(2**39 / 494.7e12 * 1e9 / 2, rel=0.001)


def test_the_three_that_bring_most_come_first_and_all_have_evidence():
    heat = sampled({"barrier": 300, "long_sb": 500, "wait": 200}, instruction(12, 800, 100))
    launch = dataclasses.replace(vector_add().launch, grid=(33,))
    found = roofline(vector_add(heat=heat, timings=timed(3_000_000.0), launch=launch)).hints
    assert len(found) == 3
    gains = [each.gain_share for each in found]
    assert gains == sorted(gains, reverse=True)
    assert all(each.evidence and 0 < each.gain_share <= 1 for each in found)


def test_recorded_samples_lead_to_the_hints_of_a_matmul():
    taken = samples("matmul")
    stalls: dict[str, int] = {}
    for each in taken.instructions:
        for name, count in each.stalls.items():
            stalls[name] = stalls.get(name, 0) + count
    total = sum(each.samples for each in taken.instructions)
    found = roofline(matmul(samples=taken, heat=sampled(stalls, total=total))).hints
    assert [each.name for each in found] == ["reuse", "barriers"]
