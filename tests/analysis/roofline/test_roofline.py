"""Test rooflines of hardware counters, interpreter counts, static work, and absurd numbers."""

import dataclasses
import math

import msgspec
import pytest
from facts import H200, bare, matmul, timed, vector_add
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.assembly.heat import HeatDocument
from explorer.analysis.roofline.compose import roofline
from explorer.analysis.roofline.static_work import StaticWork
from explorer.analysis.roofline.work import tensor_bytes
from explorer.model import Resources
from explorer.model.measurements import (
    Counters,
    Counts,
    Environment,
    LaunchFacts,
    OperationCount,
    Roof,
    Roofs,
    RunArgument,
    Samples,
    Timing,
    Timings,
)

ROOFS = Roofs((
    Roof("dram", "memory", 4.38e12, "measured", "copy of 8 GiB"),
    Roof("tensor fp16", "compute", 790e12, "measured", "matrix product of 8192"),
))  # fmt: skip


def dot(document, level):
    return next(each for each in document.dots if each.level == level)


def test_vector_add_on_an_h200():
    """12 bytes for each of 2^28 elements in 0.735 ms: 4.38 TB/s, 91 % of 4.8."""
    found = roofline(vector_add())
    dram = next(each for each in found.traffic if each.level == "dram")
    assert dram.rate == pytest.approx(4.389e12, rel=0.001)
    assert dram.bytes.source == "measured"
    at = dot(found, "dram")
    assert at.intensity == pytest.approx(2**28 / 3_225_780_992)
    assert at.rate == pytest.approx(2**28 / 0.735e-3)
    assert (at.bounds[0].by, at.bounds[0].share) == ("dram", pytest.approx(0.914, abs=0.001))
    assert found.floors[0].binding == "dram"
    assert found.floors[0].time_ns == pytest.approx(3_225_780_992 / 4.8e12 * 1e9)
    assert found.verdict.startswith(
        "The kernel reaches 91 % of the limit by the datasheet: of 735 µs, DRAM needs 672 µs"
    )
    assert found.operation == "fp32"
    assert not found.hints


def test_the_best_matmul_on_an_h200():
    """2 · 8192³ operations in 1.471 ms: 747 TFLOP/s, 75.5 % of 989."""
    found = roofline(matmul(timings=timed(1_471_292.0)))
    operations = found.operations[0]
    assert operations.count.value == 2 * 8192**3
    assert operations.rate == pytest.approx(747.3e12, rel=0.001)
    assert dot(found, "dram").bounds[0].share == pytest.approx(0.755, abs=0.001)


def test_a_matmul_that_the_l2_limits():
    """Nsight Compute reports 86 % of the L2 bandwidth and 65 % of the tensor pipe for the same run."""
    found = roofline(matmul())
    assert found.floors[0].binding == "l2"
    assert found.floors[0].share == pytest.approx(0.855, abs=0.001)
    assert dot(found, "l2").bounds[0].by == "l2"
    assert dot(found, "dram").bounds[0].by == "tensor fp16"
    tail = next(each for each in found.losses if each.name == "tail")
    assert tail.share == pytest.approx(1 - 4096 / (16 * 264))
    clock = next(each for each in found.losses if each.name == "clock")
    assert clock.share == pytest.approx(1 - 1400.29 / 1830)
    assert "power limit" in clock.text
    # Its blocks of 128 × 128 take more than 64 KiB of shared memory: larger ones seldom fit.
    assert found.hints == []


def test_ridges_are_where_roofs_meet():
    found = roofline(matmul(roofs=ROOFS))
    ridges = {(each.level, each.source): each.intensity for each in found.ridges}
    assert ridges["dram", "measured"] == pytest.approx(790e12 / 4.38e12)
    assert ridges["dram", "datasheet"] == pytest.approx(4096 * 132 * 1830e6 / 4.8e12)


def test_measured_roofs_make_a_second_floor():
    found = roofline(vector_add(roofs=ROOFS))
    assert [(each.source, each.binding) for each in found.floors] == [
        ("datasheet", "dram"),
        ("measured", "dram"),
    ]
    assert found.floors[1].time_ns == pytest.approx(3_225_780_992 / 4.38e12 * 1e9)
    assert "reaches 100 % of the limit measured on this GPU (91 % by the datasheet)" in found.verdict
    assert {each.source for each in found.ceilings if each.name == "dram"} == {"datasheet", "measured"}


def test_of_a_copy_and_reads_the_faster_is_the_roof():
    copied = Roof("dram", "memory", 4.2e12, "measured", "copy of 4 GiB")
    read = Roof("dram", "memory", 4.6e12, "measured", "reads of 4 GiB")
    for both in ((copied, read), (read, copied)):
        found = roofline(vector_add(roofs=Roofs(both)))
        (roof,) = (each for each in found.ceilings if (each.name, each.source) == ("dram", "measured"))
        assert (roof.rate, roof.method) == (4.6e12, "reads of 4 GiB; copy of 4 GiB: 4.20 TB/s")
        assert found.floors[1].time_ns == pytest.approx(3_225_780_992 / 4.6e12 * 1e9)
        assert "more than 100 %" not in found.verdict


def test_faster_than_the_measured_roof_is_explained():
    copied = Roofs((Roof("dram", "memory", 4.2e12, "measured", "copy of 4 GiB"),))
    verdict = roofline(vector_add(roofs=copied)).verdict
    # No time is given that DRAM would need at a rate that the kernel exceeded.
    assert verdict.startswith(
        "The kernel reaches 91 % of the limit by the datasheet: of 735 µs, DRAM needs 672 µs"
    )
    assert (
        "DRAM reached 4.39 TB/s, more than the 4.20 TB/s of the kernel that measured its limit (copy of 4 "
        "GiB)." in verdict
    )


def test_two_limits_at_once_are_both_told():
    """2 · 8192³ at 790 TFLOP/s take 1.39 ms, 15.1 GB at 10.7 TB/s 1.41 ms."""
    both = Roofs((*ROOFS.roofs, Roof("l2", "memory", 10.7e12, "measured", "reads")))
    found = roofline(matmul(timings=timed(1_600_000.0), roofs=both))
    assert found.floors[1].binding == "l2"
    assert "Tensor fp16 needs nearly as long" in found.verdict


def test_only_ceilings_that_matter_are_there():
    names = {each.name for each in roofline(vector_add(roofs=ROOFS)).ceilings}
    assert names == {"dram", "l2", "l1", "fp32"}


def counts(programs, grid_programs):
    """Return the counts of a vector addition of 1000 fp32 elements in blocks of 1024."""
    return Counts(
        programs, grid_programs,
        (OperationCount(19, "load", 1, 4000, 125), OperationCount(21, "store", 1, 4000, 125)),
        loaded_bytes=8000, stored_bytes=4000, loaded_sectors=250, stored_sectors=125, sectors_in_grid=375,
        flops={"fp32": 1000},
    )  # fmt: skip


def test_what_was_counted_is_scaled_to_the_grid():
    found = roofline(bare(counts=counts(10, 40)))
    dram = next(each for each in found.traffic if each.level == "dram")
    assert (dram.bytes.value, dram.bytes.source) == (375 * 32 * 4, "counted")
    assert "scaled from 10 of 40 programs" in dram.bytes.note
    assert {each.level: each.bytes.value for each in found.traffic if each.bytes} == {
        "dram": 375 * 32 * 4,
        "l2": 375 * 32 * 4,
        "l1": 250 * 32 * 4,
    }
    assert found.operations[0].count.value == 4000


def test_without_a_gpu_the_best_known_one_of_the_target_is_the_measure():
    found = roofline(bare(counts=counts(1, 1)))
    assert found.is_modelled
    assert (found.gpu, found.time) == ("NVIDIA H100 80GB HBM3", None)
    assert found.floors[0].time_ns == pytest.approx(12_000 / 3.35e12 * 1e9)
    assert found.floors[0].share is None
    assert dot(found, "dram").rate is None
    # The whole GPU needs 3.58 ns for the bytes. No launch takes so little time.
    assert found.verdict.startswith("The launch is too small to have a limit")
    assert " ns" not in found.verdict
    assert {each.what for each in found.missing} == {"time", "counters", "samples"}


def test_counters_come_before_counts_and_counts_before_the_program_and_that_before_statements():
    launch = LaunchFacts("k", 1, (1,), (), stated={"flops32": 7.0, "bytes": 9.0})
    static = StaticWork("", {"fp32": 5.0}, 11.0, False)
    measured = Counters("", "ncu", operations={"fp32": 3.0}, bytes={"dram": 2.0})
    everything = {"launch": launch, "static": static, "counts": counts(1, 1), "counters": measured}

    def first(**known):
        found = roofline(bare(**known))
        dram = next(each for each in found.traffic if each.level == "dram")
        return found.operations[0].count.source, dram.bytes.source

    assert first(**everything) == ("measured", "measured")
    assert first(**{**everything, "counters": None}) == ("counted", "counted")
    assert first(launch=launch, static=static) == ("static", "stated")
    assert first(launch=launch) == ("stated", "stated")


@pytest.mark.parametrize(
    ("requested", "is_masked", "expected", "is_most"),
    [
        (32.0, False, 32.0, False),
        (32.0, True, 32.0, True),
        (64.0, True, 64.0, False),
        (128.0, True, 64.0, False),
    ],
)
def test_the_program_says_what_dram_moves_at_least(requested, is_masked, expected, is_most):
    """Requests beyond the 64 bytes of the tensor repeat, so a perfect cache serves them."""
    launch = LaunchFacts("k", 1, (1,), (RunArgument("x", "*fp32", None, (16,), (1,)),))
    found = roofline(bare(launch=launch, static=StaticWork("", {}, requested, is_masked)))
    dram = next(each for each in found.traffic if each.level == "dram")
    assert (dram.bytes.value, dram.bytes.source, dram.bytes.is_most) == (expected, "static", is_most)
    assert bool(found.floors) == (not is_most or not is_masked)


def test_what_is_at_most_so_much_makes_no_floor():
    launch = LaunchFacts("k", 1, (1,), (RunArgument("x", "*fp32", None, (2**20,), (1,)),))
    found = roofline(bare(launch=launch, static=StaticWork("", {}, 2.0**30, True)))
    assert next(each for each in found.traffic if each.level == "l1").bytes.is_most
    assert [each.binding for each in found.floors] == ["dram"]


def test_busy_matrix_units_at_a_low_clock_are_the_reason():
    busy = dataclasses.replace(matmul().counters, pipes={"tensor": 0.956})
    found = roofline(matmul(timings=timed(1_471_292.0), counters=busy, roofs=ROOFS))
    assert "pipe tensor" not in {each.binding for each in found.floors}
    moved = dataclasses.replace(busy, bytes={"dram": 1.6e9})
    found = roofline(matmul(timings=timed(1_471_292.0), counters=moved))
    assert found.verdict.endswith(
        "The matrix units are busy in 96 % of the cycles at a lower clock (1,400 MHz)."
    )


def test_why_counters_are_missing_is_told():
    found = roofline(vector_add(counters=Counters("Ask the administrator for NVreg_RestrictProfiling…")))
    assert "Ask the administrator" in found.reason
    assert any("Ask the administrator" in each.reason for each in found.missing)
    assert all(each.bytes is None and each.reason for each in found.traffic)


def test_a_run_that_failed_before_it_found_anything_out_says_why():
    found = roofline(bare(failure="The interpreter does not run Gluon."))
    assert found.reason == "The run failed: The interpreter does not run Gluon."


def test_special_functions_have_their_time_and_dots_count_floating_point():
    """16 a clock of 132 multiprocessors at 1980 MHz: 2^30 take 257 µs, where 2^31 FLOP take 32 µs."""
    done = {"fp32": 2.0**31, "special fp32": 2.0**30, "int32": 2.0**40}
    found = roofline(vector_add(counters=dataclasses.replace(vector_add().counters, operations=done)))
    assert found.operation == "fp32"
    special = next(each for each in found.resources if each.name == "special fp32")
    assert special.needs[0].time_ns == pytest.approx(2**30 / (16 * 132 * 1.98))


def test_a_level_without_a_roof_has_no_bound():
    """No source publishes the L2 bandwidth of an H100."""
    found = roofline(bare(counts=counts(1, 1)))
    assert dot(found, "l2").bounds == []
    assert [each.by for each in dot(found, "dram").bounds] == ["dram"]


def test_a_kernel_that_only_moves_data_has_resources_and_no_dots():
    moved = dataclasses.replace(vector_add().counters, operations={"int32": 2.0**28})
    found = roofline(vector_add(counters=moved))
    assert (found.operation, found.dots, found.ridges) == ("", [], [])
    assert found.floors[0].binding == "dram"
    assert "DRAM needs 672 µs" in found.verdict


def test_a_pipe_that_is_busy_is_a_resource():
    busy = dataclasses.replace(vector_add().counters, pipes={"alu": 0.97, "fma": 0.2, "odd": 7.0})
    found = roofline(vector_add(counters=busy, roofs=ROOFS))
    assert found.resources[1].name == "pipe alu"
    assert found.resources[1].needs[0].time_ns == pytest.approx(0.97 * 735_000)
    assert not any("odd" in each.name for each in found.resources)


def test_a_tiny_kernel_is_told_apart():
    found = roofline(vector_add(timings=timed(2_100.0)))
    assert "2.10 µs" in found.verdict
    assert "hardly longer than an empty launch" in found.verdict


@pytest.mark.parametrize(
    ("grid", "name", "share"),
    [
        ((100,), "idle multiprocessors", 32 / 132),
        ((198,), "idle multiprocessors", 0.25),
        ((132 * 16 + 1,), "tail", 1 - 2113 / 4224),
    ],
)
def test_blocks_that_do_not_fill_the_gpu(grid, name, share):
    """With 128 threads and 26 registers, 16 blocks fit on each of the 132 multiprocessors."""
    launch = dataclasses.replace(vector_add().launch, grid=grid)
    loss = next(each for each in roofline(vector_add(launch=launch)).losses if each.name == name)
    assert loss.share == pytest.approx(share)
    assert loss.lost_ns == pytest.approx(share * 735_000)


def test_full_waves_lose_nothing():
    launch = dataclasses.replace(vector_add().launch, grid=(132 * 16 * 3,))
    assert not [each for each in roofline(vector_add(launch=launch)).losses if each.name == "tail"]


def test_no_floor_is_above_the_measured_time():
    """A kernel of 0.5 ms cannot need 0.67 ms for DRAM: the bytes were counted in another launch."""
    for roofs in (None, ROOFS):
        found = roofline(vector_add(timings=timed(500_000.0), roofs=roofs))
        assert all(floor.time_ns <= 500_000 for floor in found.floors)
        assert "DRAM reached 6.45 TB/s, more than the 4.80 TB/s of the datasheet" in found.verdict
        assert "DRAM needs" not in found.verdict


def test_few_blocks_have_few_multiprocessors():
    """33 of 132 multiprocessors compute at a quarter of the rate; DRAM serves them at its whole rate."""
    launch = dataclasses.replace(vector_add().launch, grid=(33,))
    needs = {
        blocks: {row.name: row.needs[0].time_ns for row in roofline(known).resources if row.needs}
        for blocks, known in ((33, vector_add(launch=launch)), (0, vector_add()))
    }
    assert needs[33]["fp32"] == pytest.approx(4 * needs[0]["fp32"])
    assert needs[33]["l1"] == pytest.approx(4 * needs[0]["l1"])
    assert needs[33]["dram"] == needs[0]["dram"]


def test_a_limit_beside_busy_matrix_units_is_explained():
    """The L2 needs 93 % of the time, and the matrix units are busy in 95 % of the cycles."""
    busy = dataclasses.replace(matmul().counters, pipes={"tensor": 0.95})
    verdict = roofline(matmul(counters=busy, timings=timed(1_580_000.0))).verdict
    assert "L2 needs" in verdict
    assert "The matrix units are busy in 95 % of the cycles at a lower clock (1,400 MHz)." in verdict
    assert "Both limit the kernel" in verdict


def test_a_causal_kernel_is_not_called_even():
    """16 programs of 1 to 16 steps: the largest has 1.9 times the average. 8 run at the same time."""
    static = StaticWork(programs=tuple(float(step) for step in range(1, 17)) * 66)
    launch = dataclasses.replace(vector_add().launch, grid=(16, 66))
    resources = Resources(registers=122, shared_bytes=98_304, threads=256)
    found = roofline(vector_add(launch=launch, static=static, resources=resources))
    (loss,) = (each for each in found.losses if each.name == "unequal programs")
    assert "1.9 times the average work" in loss.text
    assert not [each for each in found.losses if each.name in ("tail", "idle multiprocessors")]
    # 1,056 programs on 264 places, simulated by hand: 4 at each place, of 8.5 steps on average.
    ends = [0.0] * 264
    for work in static.programs:
        ends[ends.index(min(ends))] += work
    assert loss.share == pytest.approx(1 - sum(static.programs) / (264 * max(ends)))
    assert loss.share > 0.1


def test_a_kernel_in_place_reads_and_writes_its_tensor():
    """q has 1 GiB, read and written back: 2 GiB are no reuse, and 3 are."""
    launch = LaunchFacts("rope", 1, (2**20,), (RunArgument("q", "*fp32", None, (2**28,), (1,)),))
    static = StaticWork(loaded=frozenset({"q"}), stored=frozenset({"q"}))
    moved = dataclasses.replace(vector_add().counters, bytes={"dram": 2.0 * 2**30, "l2": 2.0 * 2**30})
    facts = vector_add(launch=launch, static=static, counters=moved, timings=timed(500_000.0))
    assert tensor_bytes(facts) == 2 * 2**30
    assert not [each for each in roofline(facts).hints if each.name == "reuse"]
    again = dataclasses.replace(moved, bytes={"dram": 3.0 * 2**30, "l2": 3.0 * 2**30})
    found = roofline(dataclasses.replace(facts, counters=again, timings=timed(750_000.0)))
    assert [each.title for each in found.hints if each.name == "reuse"] == [
        "DRAM transfers 3.22 GB, the tensors have 2.15 GB"
    ]


def test_counted_sectors_that_are_read_and_written_count_twice():
    counted = Counts(
        1, 1, (), 4096, 4096, 128, 128, 128, {}, loaded_sectors_in_grid=128, stored_sectors_in_grid=128
    )
    dram = next(each for each in roofline(bare(counts=counted)).traffic if each.level == "dram")
    assert dram.bytes.value == 2 * 4096


odd = st.one_of(st.floats(), st.sampled_from([0.0, -1.0, 1e-300, 1e308, 5.0, 1e9]))
whole = st.one_of(st.integers(), st.sampled_from([0, -1, 1, 2**63, 10**400, 1000]))
LEVELS = st.sampled_from(["dram", "l2", "l1", "shared"])
KINDS = st.sampled_from(["fp32", "tensor fp16", "int32", "nonsense", ""])

facts = st.fixed_dictionaries(
    {},
    optional={
        "environment": st.builds(
            Environment, st.sampled_from(["", "NVIDIA H200", "Odd"]), st.sampled_from(["9.0", ""]), whole,
            whole, whole, odd, odd, whole, st.just(""), st.just(""), st.just(""), st.just(""),
        ),
        "launch": st.builds(
            LaunchFacts, st.just("k"), whole, st.lists(whole, max_size=3).map(tuple),
            st.lists(
                st.builds(
                    RunArgument, st.just("x"), st.sampled_from(["*fp32", "i32", "*"]), st.none(),
                    st.none() | st.lists(whole, max_size=3).map(tuple),
                ), max_size=2,
            ).map(tuple),
            stated=st.dictionaries(st.sampled_from(["flops16", "flops", "bytes", "odd"]), odd),
        ),
        "timings": st.builds(
            Timings,
            st.lists(
                st.builds(Timing, st.just("proton"), st.just("cold"), odd, odd, odd, st.just(())), max_size=2
            ).map(tuple),
        ),
        "counters": st.builds(
            Counters, st.sampled_from(["", "forbidden"]), st.just("ncu"),
            bytes=st.dictionaries(LEVELS, odd), operations=st.dictionaries(KINDS, odd),
            pipes=st.dictionaries(KINDS, odd),
            stalls=st.dictionaries(st.sampled_from(["long_sb", "barrier"]), odd),
            metrics=st.dictionaries(
                st.sampled_from([
                    "sm__cycles_elapsed.avg.per_second", "smsp__inst_executed.sum",
                    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
                    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
                    "smsp__issue_active.avg.pct_of_peak_sustained_active",
                ]), odd,
            ),
        ),
        "counts": st.builds(
            Counts, whole, whole,
            st.lists(
                st.builds(
                    OperationCount, whole, st.sampled_from(["load", "dot"]), whole, whole, whole, whole
                ),
                max_size=3,
            ).map(tuple),
            whole, whole, whole, whole, whole, st.dictionaries(KINDS, whole),
        ),
        "samples": st.just(Samples("nothing")),
        "heat": st.just(HeatDocument("nothing")),
        "roofs": st.builds(
            Roofs,
            st.lists(
                st.builds(
                    Roof, st.sampled_from(["dram", "fp32"]), st.sampled_from(["memory", "compute"]), odd,
                    st.just("measured"), st.just("copy"),
                ), max_size=3,
            ).map(tuple),
        ),
        "resources": st.builds(
            Resources, registers=st.none() | whole, shared_bytes=st.none() | whole, threads=st.none() | whole,
            spill_stores_bytes=st.none() | whole, spill_loads_bytes=st.none() | whole,
        ),
        "blocks_per_program": whole,
        "tensor_instructions": st.none() | st.booleans(),
    },
)  # fmt: skip


def numbers(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from numbers(each)


@pytest.mark.slow
@given(facts)
def test_absurd_facts_become_a_document_of_numbers(known):
    found = roofline(bare(**known))
    plain = msgspec.to_builtins(found)
    assert all(math.isfinite(each) for each in numbers(plain))
    assert msgspec.json.decode(msgspec.json.encode(found)) == plain
    assert found.reason or found.dots or found.resources
    assert found.verdict


def test_the_h200_of_the_records_is_the_one_of_the_table():
    assert roofline(bare(environment=H200)).gpu == "NVIDIA H200"
