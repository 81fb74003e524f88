"""Test the ceilings of GPUs against the figures that their vendors publish."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.roofline.ceilings import hardware
from explorer.model.hardware import PRODUCTS, TARGETS, find_product, find_target
from explorer.model.measurements import Environment


def environment(gpu, **given):
    known = {
        "capability": "9.0", "multiprocessors": 0, "memory_bytes": 0, "l2_bytes": 0, "sm_clock_mhz": 0.0,
        "memory_clock_mhz": 0.0, "memory_bus_bits": 0, "driver": "", "triton": "", "torch": "", "python": "",
    }  # fmt: skip
    return Environment(gpu=gpu, **{**known, **given})


def ceiling(found, name):
    return next(each for each in found.ceilings if each.name == name)


# Peak rates in TFLOP/s, dense, as the vendors print them, not as they are worked out here.
@pytest.mark.parametrize(
    ("name", "operation", "teraflops"),
    [
        ("Tesla T4", "tensor fp16", 65),
        ("Tesla T4", "tensor int8", 130),
        ("Tesla T4", "fp32", 8.1),
        ("Quadro RTX 6000", "tensor fp16", 130.5),
        ("NVIDIA GeForce RTX 2080 Ti", "tensor fp16", 53.8),
        ("NVIDIA A100-SXM4-80GB", "tensor fp16", 312),
        ("NVIDIA A100-SXM4-80GB", "tensor tf32", 156),
        ("NVIDIA A100-SXM4-80GB", "fp32", 19.5),
        ("NVIDIA A100-PCIE-40GB", "fp64", 9.7),
        ("NVIDIA A10", "tensor fp16", 125),
        ("NVIDIA A30", "tensor bf16", 165),
        ("NVIDIA L4", "tensor fp16", 121),
        ("NVIDIA L4", "tensor fp8", 242.5),
        ("NVIDIA L40S", "tensor fp8", 733),
        ("NVIDIA L40S", "fp32", 91.6),
        ("NVIDIA GeForce RTX 3090", "tensor fp16", 71.2),
        ("NVIDIA GeForce RTX 4090", "tensor bf16", 165.2),
        ("NVIDIA GeForce RTX 4090", "fp32", 82.6),
        ("NVIDIA H100 80GB HBM3", "tensor fp16", 989.4),
        ("NVIDIA H100 80GB HBM3", "tensor tf32", 494.7),
        ("NVIDIA H100 80GB HBM3", "fp32", 66.9),
        ("NVIDIA H100 PCIe", "tensor fp8", 1513),
        ("NVIDIA H100 NVL", "tensor fp16", 835.5),
        ("NVIDIA H200", "tensor fp8", 1979),
        ("NVIDIA GH200 480GB", "tensor fp16", 990),
        ("NVIDIA B200", "tensor fp16", 2250),
        ("NVIDIA B200", "tensor fp4", 9000),
        ("NVIDIA GB200", "tensor fp8", 5000),
        ("NVIDIA GeForce RTX 5090", "tensor fp16", 209.5),
        ("NVIDIA GeForce RTX 5090", "fp32", 104.8),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "tensor fp16", 503.8),
        ("AMD Instinct MI300X", "tensor fp16", 1307.4),
        ("AMD Instinct MI300X", "fp32", 163.4),
        ("AMD Instinct MI355X", "tensor fp8", 5033),
        ("AMD Radeon RX 7900 XTX", "fp32", 61.4),
    ],
)
def test_peaks_are_those_of_the_datasheet(name, operation, teraflops):
    found = hardware(environment(name), find_target("cuda:90"))
    assert ceiling(found, operation).rate == pytest.approx(teraflops * 1e12, rel=0.011)
    assert "MHz" in ceiling(found, operation).method
    assert found.problem == ""


@pytest.mark.parametrize(
    ("name", "gigabytes"),
    [
        ("NVIDIA A100-SXM4-40GB", 1555),
        ("NVIDIA A100-PCIE-40GB", 1555),
        ("NVIDIA A100 80GB PCIe", 1935),
        ("NVIDIA A100-SXM4-80GB", 2039),
        ("NVIDIA H100 80GB HBM3", 3350),
        ("NVIDIA H200", 4800),
        ("NVIDIA H200 NVL", 4800),
        ("NVIDIA GH200 144G HBM3e", 4900),
        ("NVIDIA L40S", 864),
    ],
)
def test_names_of_drivers_lead_to_their_bandwidth(name, gigabytes):
    assert find_product(name).dram_bytes_per_second == gigabytes * 1e9


def test_the_peaks_that_nsight_compute_reports_on_an_h200():
    """`lts__lts2xbar…peak_sustained` 6016 bytes a clock; `l1tex__lsu_writeback…` 16896 bytes a clock."""
    found = hardware(environment("NVIDIA H200", multiprocessors=132), find_target("cuda:90"))
    assert ceiling(found, "l2").rate == 6016 * 1705e6
    assert ceiling(found, "shared").rate == 16896 * 1980e6


def test_a_gpu_that_is_not_in_the_table_is_known_by_its_driver():
    asked = environment(
        "NVIDIA H999", capability="9.0", multiprocessors=100, sm_clock_mhz=2000.0, memory_clock_mhz=3000.0,
        memory_bus_bits=4096,
    )  # fmt: skip
    found = hardware(asked, find_target("cuda:90"))
    assert ceiling(found, "dram").rate == 4096 / 8 * 2 * 3000e6
    assert ceiling(found, "tensor fp16").rate == 4096 * 100 * 2000e6
    assert "not in the table" in found.problem


def test_half_a_gpu_has_half_of_its_operations():
    found = hardware(
        environment("NVIDIA H100 80GB HBM3 MIG 3g.40gb", multiprocessors=60), find_target("cuda:90")
    )
    assert ceiling(found, "tensor fp16").rate == pytest.approx(989.4e12 * 60 / 132, rel=0.001)
    assert "60 multiprocessors" in found.problem


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_best_known_gpu_of_each_target_is_in_the_table(target):
    found = hardware(None, target)
    assert found.architecture == target.architecture
    assert found.problem == ""
    gpu = find_product(target.device.name)
    assert gpu.multiprocessors == target.device.multiprocessors
    reported = target.device.memory_bus_bits / 8 * 2 * target.device.memory_clock_khz * 1e3
    if target.backend == "cuda":
        assert gpu.dram_bytes_per_second == pytest.approx(reported, rel=0.03)


def test_every_product_has_a_known_architecture():
    known = {target.architecture for target in TARGETS}
    assert {product.architecture for product in PRODUCTS} <= known


@given(
    st.builds(
        Environment,
        gpu=st.text(max_size=20),
        capability=st.sampled_from(["9.0", "", "12.1", "x", "99"]),
        multiprocessors=st.integers(),
        memory_bytes=st.integers(),
        l2_bytes=st.integers(),
        sm_clock_mhz=st.floats(),
        memory_clock_mhz=st.floats(),
        memory_bus_bits=st.integers(),
        driver=st.just(""), triton=st.just(""), torch=st.just(""), python=st.just(""),
    )
)  # fmt: skip
def test_absurd_environments_have_ceilings_that_are_numbers(absurd):
    found = hardware(absurd, find_target("cuda:90"))
    msgspec.json.encode(found)
    assert all(math.isfinite(each.rate) and each.rate > 0 for each in found.ceilings)
