"""Texts of every language: one small kernel, compiled and disassembled."""

import re
import subprocess
from pathlib import Path

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

from explorer.model.hardware import find_target
from explorer.pipeline.targets import triton_target


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, m, n, k, stride_a, stride_b, stride_c,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(n, block_n)
    program = tl.program_id(0)
    rows = program // columns * block_m + tl.arange(0, block_m)
    cols = program % columns * block_n + tl.arange(0, block_n)
    inner = tl.arange(0, block_k)
    a = a_ptr + rows[:, None] * stride_a + inner[None, :]
    b = b_ptr + inner[:, None] * stride_b + cols[None, :]
    total = tl.zeros((block_m, block_n), dtype=tl.float32)
    for step in range(tl.cdiv(k, block_k)):
        left = tl.load(a, mask=inner[None, :] < k - step * block_k, other=0.0)
        right = tl.load(b, mask=inner[:, None] < k - step * block_k, other=0.0)
        total = tl.dot(left, right, total)
        a += block_k
        b += block_k * stride_b
    if program == 0:
        tl.device_print("first", tl.max(total, 0))
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    tl.store(c_ptr + rows[:, None] * stride_c + cols[None, :], tl.sigmoid(total).to(tl.float16), mask=inside)
    tl.atomic_add(c_ptr + cols, tl.sum(total, 0).to(tl.float16))


POINTERS = {"a_ptr": "*fp16", "b_ptr": "*fp16", "c_ptr": "*fp16"}
INTEGERS = dict.fromkeys(("m", "n", "k", "stride_a", "stride_b", "stride_c"), "i32")
BLOCKS = {"block_m": 64, "block_n": 64, "block_k": 32}
TARGETS = ("cuda:90", "cuda:100", "hip:gfx942", "hip:gfx1100")


@pytest.fixture(scope="session")
def real_texts(tmp_path_factory) -> dict[tuple[str, str], str]:
    """The text of each (target, language)."""
    texts = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_DEFAULT_FP_FUSION", "1")
        patch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        for name in TARGETS:
            source = ASTSource(
                product,
                {**POINTERS, **INTEGERS, **dict.fromkeys(BLOCKS, "constexpr")},
                BLOCKS,
                {(index,): [["tt.divisibility", 16]] for index in range(9)},
            )
            compiled = triton.compile(source, target=triton_target(find_target(name)))
            for language in ("ttir", "ttgir", "llir", "ptx", "amdgcn"):
                if language in compiled.asm:
                    texts[name, language] = compiled.asm[language]
            if "cubin" in compiled.asm:
                cubin = tmp_path_factory.mktemp("cubin") / "product.cubin"
                cubin.write_bytes(compiled.asm["cubin"])
                texts[name, "sass"] = disassemble(cubin, "-gi")
                # As the page shows it: a control code before the address.
                texts[name, "sass with control codes"] = re.sub(
                    r"^\s+(/\*\w+\*/) +", r"B0-2---:R1:W-:Y:S04  \1  ", texts[name, "sass"], flags=re.M
                )
                texts[name, "sass with encodings"] = disassemble(cubin, "-hex")
    return texts


def disassemble(cubin: Path, option: str) -> str:
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "nvdisasm"
    return subprocess.run([tool, "-c", option, cubin], check=True, capture_output=True, text=True).stdout
