"""Test the reading of Nsight Compute's metrics, for several architectures."""

import json
from pathlib import Path

import pytest

from explorer.runner.measures import counters, samples
from explorer.runner.profilers import nsight_compute
from explorer.runner.profilers.metrics import FORBIDDEN, NoCounters

RECORDINGS = Path(__file__).parents[1] / "profilers/outputs"
ELEMENTS = 2**20


@pytest.fixture(scope="module")
def metrics():
    return nsight_compute.read_metrics((RECORDINGS / "add_raw.csv").read_text())


@pytest.fixture(scope="module")
def instructions():
    rows = nsight_compute.read_instructions((RECORDINGS / "add_source.csv").read_text())
    return samples.instructions(rows)


def test_an_addition_moves_and_adds_what_it_must(metrics):
    found = counters.counters(metrics, "Nsight Compute")
    assert found.bytes["l1"] == found.bytes["l2"] == 3 * 4 * ELEMENTS
    assert found.bytes["dram"] == pytest.approx(2 * 4 * ELEMENTS, rel=0.1), "the sum stays in the L2"
    assert found.bytes["shared"] == 0
    assert found.operations["fp32"] == ELEMENTS
    assert not [kind for kind in found.operations if kind.startswith("tensor")]
    assert all(0 <= share <= 1 for share in found.pipes.values())
    assert max(found.stalls, key=found.stalls.get) == "long_scoreboard"
    json.dumps(found.metrics, allow_nan=False)


def test_stalls_of_the_kernel_are_those_of_its_instructions(metrics, instructions):
    by_kernel = counters.stalls(metrics)
    assert sum(by_kernel.values()) == sum(each.samples for each in instructions)
    assert sum(by_kernel.values()) == sum(sum(each.stalls.values()) for each in instructions)


def test_every_instruction_has_its_place_and_what_it_asks_of_memory(instructions):
    assert [each.offset_bytes for each in instructions] == list(range(0, 16 * len(instructions), 16))
    accesses = [each for each in instructions if each.sectors is not None]
    assert all("LDG" in each.instruction or "STG" in each.instruction for each in accesses)
    assert sum(each.sectors for each in accesses) == 3 * 4 * ELEMENTS // 32
    assert [each.sectors for each in accesses] == [each.sectors_ideal for each in accesses]
    assert instructions[0].executed == ELEMENTS // 1024 * 4, "each of four warps of each program"


def test_a_multiply_add_is_two_operations_and_half_precision_comes_in_pairs():
    def threads(operation):
        return f"smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"

    found = counters.operations(
        {
            threads("fadd"): 1,
            threads("fmul"): 10,
            threads("ffma"): 100,
            threads("hfma"): 7,
            threads("dadd"): 0,
        }
    )
    assert found == {"fp32": 211, "fp16": 28}


@pytest.mark.parametrize(
    ("metrics", "operations"),
    [
        ({"sm__ops_path_tensor_src_fp16.sum": 8, "sm__ops_path_tensor_src_int8.sum": 0}, {"tensor fp16": 8}),
        (
            {
                "sm__ops_path_tensor_src_fp8_sparsity_off.sum": 6,
                "sm__ops_path_tensor_src_fp8_sparsity_on.sum": 2,
            },
            {"tensor fp8": 8},
        ),
        (
            {
                "sm__ops_path_tensor_src_fp16_dst_fp16.sum": 3,
                "sm__ops_path_tensor_src_fp16_dst_fp32.sum": 5,
                "sm__ops_path_tensor_src_fp16_dst_fp32_sparsity_off.sum": 5,
                "sm__ops_path_tensor_src_bf16_dst_fp32.sum": 4,
            },
            {"tensor fp16": 8, "tensor bf16": 4},
        ),
    ],
    ids=["as a whole", "by sparsity", "by what is written, and again by sparsity"],
)
def test_tensor_operations_are_added_up_once_however_they_are_told_apart(metrics, operations):
    assert counters.operations(metrics) == operations


def test_shared_memory_is_its_wavefronts_without_those_for_no_data():
    found = counters.memory_bytes(
        {
            "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": 2_906_684,
            "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc.sum": 110_208,
        }
    )
    assert found == {"shared": 128 * (2_906_684 - 110_208)}


def test_copies_of_the_bulk_engine_are_traffic_of_the_l1():
    found = counters.memory_bytes(
        {
            "l1tex__t_bytes.sum": 0,
            "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum": 2_147_483_648,
            "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum": 33_554_432,
            "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.avg": 254_200.24,
        }
    )
    assert found == {"l1": 2_181_038_080}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
            "Counters on the target device 0.",
            FORBIDDEN,
        ),
        (
            "==PROF== Connected to process 7\n==ERROR== The application returned an error code (1).\n",
            "Nsight Compute wrote no report: The application returned an error code (1).",
        ),
        ("", "Nsight Compute wrote no report: it printed no error"),
    ],
)
def test_why_there_is_no_report(said, reason):
    assert nsight_compute.reason_for(said) == reason


def test_a_page_without_a_kernel_is_no_profile():
    with pytest.raises(NoCounters, match="no kernel"):
        nsight_compute.read_metrics("==WARNING== No kernels were profiled.\n")
