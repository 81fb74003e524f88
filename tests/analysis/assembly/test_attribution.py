"""Test which operations an instruction can come from."""

import pytest

from explorer.analysis.assembly.attribution import contradiction


@pytest.mark.parametrize(
    ("instruction", "operation", "reason"),
    [
        ("\tglobal_load_b128 v[0:3], v[4:5], off", "arith.mulf", "accesses no memory"),
        ("\tglobal_load_b128 v[0:3], v[4:5], off", "tt.make_range", "accesses no memory"),
        ("\tglobal_load_b128 v[0:3], v[4:5], off", "tt.load", ""),
        ("\tds_load_b32 v0, v1", "math.exp2", "accesses no memory"),
        ("\tds_load_b32 v0, v1", "tt.reduce", ""),
        ("\tv_mul_f32_e32 v0, v1, v2", "tt.load", "does no arithmetic"),
        ("\tv_mul_f32_e32 v0, v1, v2", "ttg.local_load", "does no arithmetic"),
        ("\tv_mul_f32_e32 v0, v1, v2", "arith.mulf", ""),
        ("\tv_add_f32_e32 v0, v1, v2", "tt.atomic_rmw", ""),
        ("\tv_add_nc_u32_e32 v0, v1, v2", "tt.load", ""),
        ("\tscratch_load_b32 v0, off, off", "arith.addi", ""),
        ("\ts_load_b64 s[0:1], s[2:3], 0x0", "arith.addi", ""),
    ],
)
def test_an_access_is_no_arithmetic(instruction, operation, reason):
    assert contradiction(instruction, "amdgcn", operation) == reason
