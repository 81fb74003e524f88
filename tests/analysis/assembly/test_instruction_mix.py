"""Test the classification of instructions and their counts in loops."""

import pytest

from explorer.analysis.assembly.instruction_mix import instruction_mix, purpose_of_amdgcn, purpose_of_sass
from explorer.analysis.graphs import NothingToDraw

SASS = [
    ("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24", ("tensor", "", "", 0)),
    ("UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10]", ("tensor", "", "", 0)),
    ("HMMA.16816.F32 R4, R8, R12, R4", ("tensor", "", "", 0)),
    ("FFMA R1, R2, R3, R4", ("fp32", "", "", 0)),
    ("FADD2 R1, R2.F32x2.HI_LO, R3", ("fp32", "", "", 0)),
    ("HADD2.F32 R1, -RZ, R2.H0_H0", ("fp16", "", "", 0)),
    ("DFMA R2, R4, R6, R8", ("fp64", "", "", 0)),
    ("MUFU.EX2 R1, R2", ("special function", "", "", 0)),
    ("@!P0 IMAD.WIDE R2, R3, 0x4, R4", ("integer", "", "", 0)),
    ("IMAD.MOV.U32 R2, RZ, RZ, R3", ("move", "", "", 0)),
    ("UIADD3 UR4, UR4, 0x1, URZ", ("integer", "", "", 0)),
    ("F2FP.F16.F32.PACK_AB R1, R2, R3", ("conversion", "", "", 0)),
    ("LDG.E.128 R4, desc[UR4][R2.64]", ("memory", "global", "load", 128)),
    ("@P0 STG.E.U16 desc[UR4][R2.64], R3", ("memory", "global", "store", 16)),
    ("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64], P0", ("memory", "global to shared", "copy", 128)),
    ("LDSM.16.M88.4 R4, [R1]", ("memory", "shared", "load", 128)),
    ("LDSM.16.M88 R4, [R1]", ("memory", "shared", "load", 32)),
    ("LDSM.16.MT88.2 R4, [R1]", ("memory", "shared", "load", 64)),
    ("LDS R4, [R1]", ("memory", "shared", "load", 32)),
    ("LDC.64 R4, c[0x0][0x228]", ("memory", "constant", "load", 64)),
    ("UTMALDG.2D [UR8], [UR4]", ("memory", "global to shared", "copy", 0)),
    ("LDTM.x32 R4, tmem[UR4]", ("memory", "tensor memory", "load", 0)),
    ("ATOMG.E.ADD.F32 R4, [R2], R3", ("memory", "global", "atomic", 32)),
    ("SHFL.BFLY PT, R4, R3, 0x1, 0x1f", ("exchange", "", "", 0)),
    ("BAR.SYNC.DEFER_BLOCKING 0x0", ("synchronization", "", "", 0)),
    ("@P0 EXIT", ("control", "", "", 0)),
    ("NOP", ("other", "", "", 0)),
    ("", ("other", "", "", 0)),
]
AMDGCN = [
    ("v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]", ("tensor", "", "", 0)),
    ("v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[16:23], v[0:7]", ("tensor", "", "", 0)),
    ("v_fma_f32 v0, v1, v2, v3", ("fp32", "", "", 0)),
    ("v_dual_mul_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", ("fp32", "", "", 0)),
    ("v_add_f32_dpp v0, v1, v2 quad_perm:[1,0,3,2]", ("exchange", "", "", 0)),
    ("v_cvt_f16_f32_e32 v0, v1", ("conversion", "", "", 0)),
    ("v_exp_f32_e32 v0, v1", ("special function", "", "", 0)),
    ("v_lshl_add_u32 v0, v1, 2, v3", ("integer", "", "", 0)),
    ("s_add_i32 s0, s0, 1", ("integer", "", "", 0)),
    ("s_max_i32 s0, s0, 1", ("integer", "", "", 0)),
    ("v_accvgpr_read_b32 v0, a0", ("move", "", "", 0)),
    ("global_load_dwordx4 v[0:3], v[4:5], off", ("memory", "global", "load", 128)),
    ("buffer_store_b16 v0, v1, s[0:3], 0 offen", ("memory", "global", "store", 16)),
    ("global_store_short v[0:1], v2, off", ("memory", "global", "store", 16)),
    ("ds_read_b128 v[0:3], v4", ("memory", "shared", "load", 128)),
    ("ds_write2st64_b64 v0, v[1:2], v[3:4] offset1:1", ("memory", "shared", "store", 128)),
    ("ds_bpermute_b32 v0, v1, v2", ("exchange", "", "", 0)),
    ("scratch_load_b32 v0, off, off", ("memory", "local", "load", 32)),
    ("s_load_dwordx8 s[4:11], s[0:1], 0x8", ("memory", "constant", "load", 256)),
    ("s_waitcnt vmcnt(0)", ("synchronization", "", "", 0)),
    ("s_cbranch_scc1 .LBB0_2", ("control", "", "", 0)),
    ("s_nop 1", ("other", "", "", 0)),
]


@pytest.mark.parametrize(("text", "expected"), SASS)
def test_sass(text, expected):
    found = purpose_of_sass(text)
    assert (found.kind, found.space, found.direction, found.bits) == expected


@pytest.mark.parametrize(("text", "expected"), AMDGCN)
def test_amdgcn(text, expected):
    found = purpose_of_amdgcn(text)
    assert (found.kind, found.space, found.direction, found.bits) == expected


def sass(*lines):
    """Number instructions; a line that ends with a colon is a label."""
    return "\n".join(
        line if line.endswith(":") else f"B------:R-:W-:-:S01  /*{16 * number:04x}*/  {line} ;"
        for number, line in enumerate(lines)
    )


def test_the_loop_inside_is_the_main_loop():
    text = sass(
        ".text.kernel:",
        ".L_x_0:",
        "FADD R1, R1, R1",
        ".L_x_1:",
        "FFMA R1, R1, R1, R1",
        "LDS.64 R2, [R1]",
        "@P0 BRA `(.L_x_1)",
        "@P1 BRA `(.L_x_0)",
        "EXIT",
    )
    mix = instruction_mix(text, "sass")
    assert mix.total == 6
    assert [(loop.ranges, loop.depth, loop.instructions, loop.waits) for loop in mix.loops] == [
        (((5, 7),), 2, 3, 0),
        (((3, 3), (8, 8)), 1, 2, 0),
    ]
    assert {(row.kind, row.total, row.in_loops) for row in mix.rows} == {
        ("fp32", 2, (1, 1)),
        ("memory", 1, (1, 0)),
        ("control", 3, (1, 1)),
    }


def test_a_loop_that_tests_a_barrier_belongs_to_the_loop_around_it():
    """The wait is at the end of the function, after the exit, as the assembler places it."""
    text = sass(
        ".text.kernel:",
        ".L_x_0:",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R5",
        "@!P0 BRA `(.L_x_2)",
        ".L_x_1:",
        "HGMMA.64x128x16.F32 R24, gdesc[UR8], R24",
        "@P1 BRA `(.L_x_0)",
        "EXIT",
        ".L_x_2:",
        "IMAD.U32 R5, RZ, RZ, UR7",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R5",
        "@!P0 BRA `(.L_x_2)",
        "BRA `(.L_x_1)",
    )
    (loop,) = instruction_mix(text, "sass").loops
    assert (loop.ranges, loop.depth, loop.instructions, loop.waits) == (((3, 7), (10, 13)), 1, 8, 1)


def test_a_program_that_only_waits_has_no_main_loop():
    text = sass(
        ".text.kernel:",
        ".L_x_0:",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR4], R5",
        "@!P0 BRA `(.L_x_0)",
        "EXIT",
    )
    assert instruction_mix(text, "sass").loops == ()


def test_without_code_there_is_no_mix():
    with pytest.raises(NothingToDraw):
        instruction_mix("nothing", "sass")
