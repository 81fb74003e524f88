"""Test the units that compute products of fp32 against the instructions that the compiler chooses."""

import re

import pytest
from finding_sources import FP32_PRODUCT, changed
from tritons import TRITONS

from explorer.model.hardware import TARGETS

#: The kind of operations of an instruction, by its types.
INSTRUCTIONS = {
    r"\b(?:mma|wgmma)\S*\.f32\.tf32|tcgen05\.mma\S*kind::tf32|v_mfma_f32_\w+_xf32": "tensor tf32",
    r"\b(?:mma|wgmma)\S*\.f32\.bf16|tcgen05\.mma\S*kind::f16|v_w?mf?ma_f32_\w+_bf16": "tensor bf16",
    r"v_mfma_f32_\w+x\d+_f32": "tensor fp32",
    r"fma\.rn\.f32|v_(?:pk_|dual_)?fmac?_f32": "fp32",
}


@pytest.mark.nightly
@pytest.mark.parametrize("triton", TRITONS)
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_products_of_fp32_are_computed_by_the_units_that_their_precision_names(
    compile_source, target, triton
):
    compiled = 0
    for precision in ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"):
        source = changed(FP32_PRODUCT, {'"ieee"': f'"{precision}"'})
        record = compile_source(source, target.name, triton)
        if record.status != "complete":
            assert "input_precision must be one of" in record.result.error_messages[0]
            continue
        compiled += 1
        text = record.text(record.stage("ptx" if target.vendor == "NVIDIA" else "amdgcn").text)
        used = [kind for pattern, kind in INSTRUCTIONS.items() if re.search(pattern, text)]
        assert used[0] == target.fp32_product(precision), precision
    assert compiled >= 3
