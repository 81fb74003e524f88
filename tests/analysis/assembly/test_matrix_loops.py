"""Test which instructions each turn of a loop with matrix instructions runs."""

from explorer.analysis.assembly.matrix_loops import matrix_loops

#: A loop with a matrix instruction, which waits for a barrier, and stores in some turns only. Its loop loads.
PERSISTENT = """\
kernel:
        /*0000*/ IADD3 R1, R1, 0x1, RZ ;
.L_x_0:
        /*0010*/ LDG.E R2, desc[UR4][R4.64] ;
.L_x_1:
        /*0020*/ SYNCS.PHASECHK.TRANS64 P0, [UR8], R3 ;
        /*0030*/ @!P0 BRA `(.L_x_1) ;
        /*0040*/ HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0050*/ IMAD R5, R5, R6, RZ ;
        /*0060*/ @P1 BRA `(.L_x_2) ;
        /*0070*/ F2FP.F16.F32.PACK_AB R4, R5, R4 ;
        /*0080*/ STG.E desc[UR4][R4.64], R4 ;
.L_x_2:
        /*0090*/ IADD3 R1, R1, 0x1, RZ ;
        /*00a0*/ @P2 BRA `(.L_x_0) ;
        /*00b0*/ EXIT ;
"""


def test_instructions_of_some_turns_are_left_out():
    (loop,) = matrix_loops(PERSISTENT, "sass")
    opcodes = [PERSISTENT.split("\n")[line - 1].split("*/ ")[1] for line, _ in loop.instructions]
    assert [each.split()[0] for each in opcodes if not each.startswith("@")] == [
        "LDG.E",
        "SYNCS.PHASECHK.TRANS64",
        "HMMA.16816.F32",
        "IMAD",
        "IADD3",
    ]
    assert (len(loop.lines("tensor")), len(loop.lines("integer", "conversion"))) == (1, 2)


def test_only_loops_without_inner_work_count():
    outer = PERSISTENT.replace("[UR8], R3 ;", "[UR8], R3 ;\n        /*0028*/ LDS R7, [R8] ;")
    assert list(matrix_loops(outer, "sass")) == []
