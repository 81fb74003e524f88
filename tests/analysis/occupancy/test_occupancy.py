"""Test occupancy against Nsight Compute and against the comments of the AMD back end."""

import json
import re
from pathlib import Path

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

from explorer.analysis.occupancy.theoretical import occupancy
from explorer.documents.parts import ResourcesDocument
from explorer.model import Resources
from explorer.model.hardware import TARGETS, UnknownTarget, find_target
from explorer.pipeline.targets import triton_target

RECORDINGS = Path(__file__).parents[3] / "proton_profiles"


def test_what_nsight_compute_says_of_a_matmul_on_an_h200():
    result = occupancy("cuda:90", threads=256, registers=120, shared_bytes=98_304)
    assert result.share == 0.25
    assert result.blocks_per_multiprocessor == 2
    assert (result.limits.registers, result.limits.shared_memory, result.limits.warps) == (2, 2, 8)


def test_each_limit_is_what_nsight_compute_says_of_the_gallery_on_an_h200():
    """Registers alone may fit more warps than a multiprocessor can have, as 18 registers do."""
    profiles = (json.loads(path.read_bytes()) for path in RECORDINGS.glob("*.json"))
    measured = [
        {name.removeprefix("launch__"): int(value) for name, value in metrics.items()}
        for profile in profiles
        for run in profile["runs"]
        if (metrics := run["measurements"]["counters"]["metrics"])
    ]
    assert any(each["occupancy_limit_registers"] > each["occupancy_limit_warps"] for each in measured)
    for each in measured:
        found = occupancy("cuda:90", each["block_size"], each["registers_per_thread"], 0)
        assert found.limits.registers == each["occupancy_limit_registers"]
        assert found.limits.warps == each["occupancy_limit_warps"]
        assert found.limits.blocks == each["occupancy_limit_blocks"]


@pytest.mark.parametrize(
    ("target", "threads", "registers", "shared_bytes", "share", "limiter"),
    [
        ("cuda:75", 32, 32, 0, 16 / 32, "blocks"),
        ("cuda:75", 256, 64, 0, 1.0, "warps"),
        ("cuda:75", 256, 65, 0, 24 / 32, "registers"),
        ("cuda:75", 128, 64, 65_536, 4 / 32, "shared memory"),
        ("cuda:75", 128, 64, 21_761, 8 / 32, "shared memory"),
        ("cuda:80", 128, 32, 0, 1.0, "warps"),
        ("cuda:90", 32, 32, 0, 0.5, "blocks"),
        ("cuda:86", 32, 32, 0, 16 / 48, "blocks"),
        ("cuda:89", 128, 255, 0, 8 / 48, "registers"),
        ("cuda:90", 128, 64, 232_448, 4 / 64, "shared memory"),
        ("cuda:80", 128, 64, 166_912, 4 / 64, "shared memory"),
        ("cuda:120", 128, 64, 101_376, 4 / 48, "shared memory"),
        ("cuda:90", 128, 64, 232_449, 0.0, "shared memory"),
        ("cuda:90", 1024, 255, 0, 0.0, "registers"),
        ("cuda:90", 2048, 32, 0, 0.0, "warps"),
        ("cuda:90", 33, 32, 0, 1.0, "warps"),
        ("hip:gfx942", 256, 128, 0, 0.5, "registers"),
        ("hip:gfx942", 256, 64, 65_536, 4 / 32, "shared memory"),
        ("hip:gfx950", 256, 64, 81_920, 8 / 32, "shared memory"),
        ("hip:gfx1100", 128, 96, 0, 1.0, "warps"),
    ],
)
def test_by_hand(target, threads, registers, shared_bytes, share, limiter):
    result = occupancy(target, threads, registers, shared_bytes)
    assert result.share == pytest.approx(share)
    assert result.limiter == limiter


def test_an_unknown_target_is_refused():
    with pytest.raises(UnknownTarget, match="cuda:70"):
        occupancy("cuda:70", 128, 32, 0)


@pytest.mark.parametrize("target", [target.name for target in TARGETS])
def test_more_of_anything_never_fits_more(target):
    for threads in (32, 64, 128, 256, 512, 1024):
        for registers in range(1, 257, 5):
            for shared_bytes in (0, 1_000, 40_000, 60_000, 100_000):
                now = occupancy(target, threads, registers, shared_bytes)
                assert 0 <= now.share <= 1
                for more in (
                    occupancy(target, threads, registers + 1, shared_bytes),
                    occupancy(target, threads, registers, shared_bytes + 512),
                ):
                    assert more.blocks_per_multiprocessor <= now.blocks_per_multiprocessor


@triton.jit
def kernel(x_ptr, y_ptr, block: tl.constexpr):
    at = tl.arange(0, block)
    values = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.sort(values) * tl.exp(tl.cumsum(values)))


@pytest.mark.parametrize("block", [256, pytest.param(4_096, marks=pytest.mark.nightly)])
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ["gfx942", "gfx950", "gfx1100"])
def test_what_the_assembler_of_amd_says(architecture, block, tmp_path, monkeypatch):
    """With one warp of a block per SIMD and no LDS, the reported waves per SIMD are our blocks."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
    target = find_target(architecture)
    source = ASTSource(kernel, {"x_ptr": "*fp32", "y_ptr": "*fp32", "block": "constexpr"}, {"block": block})
    compiled = triton.compile(source, target=triton_target(target), options={"num_warps": 4})
    text = compiled.asm["amdgcn"]
    registers = int(re.search(r"; NumVGPRsForWavesPerEU: (\d+)", text)[1])
    stated = int(re.search(r"; Occupancy: (\d+)", text)[1])
    result = occupancy(target.name, 4 * target.warp_size, registers, 0)
    assert result.blocks_per_multiprocessor == stated


def test_all_resources_that_tie_are_named():
    """Two blocks by registers (4 warps of 255), and by shared memory (113 KiB and 1 KiB that is reserved)."""
    result = occupancy("cuda:90", 128, 255, 113 * 1024)
    assert result.limits.registers == result.limits.shared_memory == result.blocks_per_multiprocessor == 2
    assert result.limiters == ["registers", "shared memory"]
    needs = Resources(threads=128, registers=255, shared_bytes=113 * 1024)
    document = ResourcesDocument.of(needs, "cuda:90")
    assert (document.limiter, document.limited_by) == ("registers", "registers and shared memory")
