"""Test the operation counts of executed instructions, on a listing of nvdisasm."""

import pytest

from explorer.runner.profilers import opcodes

LISTING = """\
.text.kernel:
        /*0000*/                   LDC R1, c[0x0][0x28] ;                    /* 0x00000a00ff017b82 */
                                                                             /* 0x000fce0000000800 */
        /*0040*/                   HFMA2.MMA R0, -RZ, RZ, 0, 0 ;             /* 0x00000000ff007435 */
        /*00e0*/                   FFMA R9, R7, R0, R0 ;                     /* 0x0000000007097223 */
        /*00f0*/              @!P0 FADD R9, R7, R0 ;                         /* 0x0000000007098221 */
.L_x_0:
        /*0120*/                   HFMA2 R0, R0.H0_H0, R0.H0_H0, R0.H0_H0 ;  /* 0x2000000000007231 */
        /*0130*/                   HADD2.F32 R7, -RZ, R0.H0_H0 ;             /* 0x20000000ff077230 */
        /*0140*/                   DFMA R2, R4, R6, R8 ;                     /* 0x000000060402722b */
        /*0150*/              @UP0 UIADD3 UR4, UR4, 0x1, URZ ;               /* 0x0000000104048890 */
"""


@pytest.mark.parametrize(
    ("threads", "found"),
    [
        ({0xE0: 128}, {"fp32": 256}),
        ({0xE0: 128, 0xF0: 100}, {"fp32": 356}),
        ({0x120: 32}, {"fp16": 128}),
        ({0x140: 1}, {"fp64": 2}),
        ({0x0: 128, 0x40: 128, 0x130: 128, 0x150: 128}, {}),
        ({}, {}),
    ],
    ids=["multiply-add", "under a predicate", "pairs of halves", "double", "no arithmetic", "nothing run"],
)
def test_operations(threads, found):
    assert opcodes.operations(threads, LISTING) == found


def test_instructions_by_their_places():
    assert opcodes.instructions(LISTING) == {
        0x0: "LDC R1, c[0x0][0x28]",
        0x40: "HFMA2.MMA R0, -RZ, RZ, 0, 0",
        0xE0: "FFMA R9, R7, R0, R0",
        0xF0: "@!P0 FADD R9, R7, R0",
        0x120: "HFMA2 R0, R0.H0_H0, R0.H0_H0, R0.H0_H0",
        0x130: "HADD2.F32 R7, -RZ, R0.H0_H0",
        0x140: "DFMA R2, R4, R6, R8",
        0x150: "@UP0 UIADD3 UR4, UR4, 0x1, URZ",
    }


def test_functions_that_a_kernel_calls_are_not_its_own_code():
    called = LISTING.replace(".text.kernel", ".text.called").replace("FFMA", "MUFU")
    section = '        .section        .text.kernel,"ax",@progbits\n'
    code = opcodes.code_of(called + section + LISTING, "kernel")
    assert opcodes.instructions(code) == opcodes.instructions(LISTING)
    assert opcodes.instructions(
        opcodes.code_of(LISTING + section.replace("kernel", "called") + called, "kernel")
    ) == (opcodes.instructions(LISTING))
