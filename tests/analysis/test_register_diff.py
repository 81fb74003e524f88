"""Test that machine code is compared whatever the names of its registers and labels."""

import re

import pytest
from line_changes import count_changes

from explorer.analysis.diff import Alignment

SASS = """\
.text.kernel:
  S2R R0, SR_TID.X ;
  LDC.64 R2, c[0x0][0x210] ;
  IMAD.WIDE R4, R0, 0x4, R2 ;
  LDG.E.64 R6, [R4.64] ;
  MOV R10, RZ ;
  CS2R R12, SRZ ;
.L_x_0:
  FADD R10, R10, R6 ;
  FFMA R12, R10, R7, R12 ;
  ISETP.LT.AND P0, PT, R0, 0x10, PT ;
  @P0 BRA `(.L_x_0) ;
  FADD R14, R10, -R12 ;
  STG.E [R4.64], R14 ;
  EXIT ;
"""

AMDGCN = """\
kernel:
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_sub_f32_e32 v3, v2, v1
  global_store_dword v1, v3, s[4:5]
  s_endpgm
"""


def changes(after, before=SASS):
    return count_changes(before, after, "registers")


def shifted(text, family, by):
    return re.sub(rf"(?<![\w.$]){family}(\d+)\b", lambda found: f"{family}{int(found[1]) + by}", text)


def test_other_names_of_registers_and_labels_are_no_change():
    renamed = shifted(shifted(SASS, "R", 8), "P", 2).replace(".L_x_0", ".L_x_7")
    assert changes(renamed) == (0, 0)


def test_registers_that_exchange_their_names_are_no_change():
    names = {"R10": "R12", "R12": "R10", "R6": "R8", "R7": "R9"}
    assert changes(re.sub(r"\bR\d+\b", lambda found: names.get(found[0], found[0]), SASS)) == (0, 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FADD R14, R10, -R12", "FADD R14, R12, -R10"),
        ("FFMA R12, R10, R7, R12", "FFMA R12, R10, R6, R12"),
        ("STG.E [R4.64], R14", "STG.E [R4.64], R10"),
        ("STG.E [R4.64], R14", "STG.E [R2.64], R14"),
        ("FADD R10, R10, R6", "FADD R10, R12, R6"),
    ],
)
def test_another_operand_is_a_change(before, after):
    assert changes(shifted(SASS.replace(before, after), "R", 8)) == (1, 1)


def test_what_a_loop_carries_must_be_the_same_at_its_end():
    """The loop reads R10 again, which holds the sum in one code and something else in the other."""
    after = SASS.replace("FADD R10, R10, R6", "FADD R20, R10, R6").replace("R12, R10, R7", "R12, R20, R7")
    after = after.replace("FADD R14, R10", "FADD R14, R20")
    added, removed = changes(after)
    assert added == removed > 0


def test_an_instruction_that_another_order_puts_elsewhere_has_moved():
    lines = SASS.split("\n")
    lines.insert(4, lines.pop(6))
    alignment = Alignment(SASS, shifted("\n".join(lines), "R", 8), "registers")
    assert len(alignment.moves) == 1
    assert sum(len(span.after) for span in alignment.spans if not span.same) == 1


def test_registers_of_amd_are_renamed_in_ranges():
    renamed = re.sub(r"\bv(\d)", lambda found: f"v{int(found[1]) + 3}", AMDGCN).replace("s[4:5]", "s[6:7]")
    assert changes(renamed, AMDGCN) == (0, 0)
    assert changes(renamed.replace("v6, v5, v4", "v6, v4, v5"), AMDGCN) == (1, 1)
