"""Test the samples of each line with a hand-written listing."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.assembly.heat import heat, opcode_of
from explorer.model.measurements import InstructionSamples, Samples

SASS = """\
other:
B------:R-:W0:-:S01  /*0000*/  NOP ;
add_kernel:
.text.add_kernel:
B------:R-:W0:-:S01  /*0000*/  LDC R1, c[0x0][0x28] ;
.L_x_0:
B------:R-:W2:-:S04  /*0010*/  @!P0 LDG.E.128 R16, desc[UR4][R2.64] ;
B--2---:R-:W-:-:S01  /*0020*/  FADD R12, R12, R16 ;
B------:R-:W-:-:S05  /*0030*/  EXIT ;"""
LINES = [0, 0, 0, 0, 3, 0, 4, 5, 0]
TTGIR = """\
module {
  %x = tt.load %p : tensor<4xf32>
  %y = arith.addf %x, %x : tensor<4xf32>
  %z = arith.mulf %y, %x : tensor<4xf32>
  tt.return
}"""


def sample(offset, instruction, samples, **stalls):
    return InstructionSamples(offset, instruction, samples, stalls, executed=10, sectors=16, sectors_ideal=4)


TAKEN = Samples("", "ncu", (
    sample(0x20, "FADD R12, R12, R16", 60, long_scoreboard=55, selected=5),
    sample(0x10, "@!P0 LDG.E.128 R16, desc[UR4][R2.64]", 30, lg_throttle=30),
    sample(0x00, "LDC R1, c[0x0][0x28]", 0),
    sample(0x90, "BRA 0x90", 10, branch_resolving=10),
))  # fmt: skip


def test_samples_are_at_their_instructions_and_source_lines():
    found = heat(TAKEN, "add_kernel", SASS, LINES)
    assert (found.reason, found.samples, found.unplaced) == ("", 100, 10)
    assert [(each.line, each.samples, each.source_line) for each in found.instructions] == [
        (5, 0, 3), (7, 30, 4), (8, 60, 5),
    ]  # fmt: skip
    assert [(each.line, each.share) for each in found.source] == [(4, 0.3), (5, 0.6)]
    assert [each.line for each in found.top] == [5, 4]
    assert found.stalls == {"long_scoreboard": 55, "lg_throttle": 30, "branch_resolving": 10, "selected": 5}
    assert found.source[1].stalls == {"long_scoreboard": 55, "selected": 5}


def test_lines_of_other_stages_share_the_samples_of_their_source_line():
    found = heat(TAKEN, "add_kernel", SASS, LINES, {"ttgir": ("ttgir", TTGIR, [0, 4, 5, 5, 0, 0])})
    assert [(each.line, each.samples, each.sharing) for each in found.stages[0].lines] == [
        (2, 30, 1), (3, 60, 2), (4, 60, 2),
    ]  # fmt: skip


def test_another_binary_is_told():
    other = Samples("", "ncu", (sample(0x20, "FMUL R1, R2, R3", 4),))
    found = heat(other, "add_kernel", SASS, LINES)
    assert "differs from this compilation" in found.reason
    assert not found.instructions


def test_why_nothing_was_sampled_is_passed_on():
    assert heat(Samples("The driver forbids it."), "k", SASS, LINES).reason == "The driver forbids it."
    assert "too short" in heat(Samples("", "ncu", (sample(0, "LDC", 0),)), "k", SASS, LINES).reason


@pytest.mark.parametrize(
    ("text", "opcode"),
    [
        ("      LDG.E R0, [R2]", "LDG"),
        ("@!P0  STG.E [R2], R0", "STG"),
        ("@UP1 UIADD3 UR4, UR4", "UIADD3"),
        ("", ""),
    ],
)
def test_the_name_of_an_instruction(text, opcode):
    assert opcode_of(text) == opcode


numbers = st.one_of(st.integers(), st.sampled_from([2**64, 10**400]))


@pytest.mark.slow
@given(
    st.lists(
        st.builds(
            InstructionSamples,
            offset_bytes=st.one_of(numbers, st.sampled_from([0, 0x10, 0x20])),
            instruction=st.sampled_from(["", "LDC", "LDG.E", "FADD", "\x00"]),
            samples=numbers,
            stalls=st.dictionaries(st.text(max_size=5), numbers, max_size=3),
            executed=numbers,
            sectors=st.none() | numbers,
            sectors_ideal=st.none() | numbers,
        ),
        max_size=6,
    )
)
def test_absurd_samples_become_a_document(instructions):
    found = heat(Samples("", "ncu", tuple(instructions)), "add_kernel", SASS, LINES)
    msgspec.json.encode(found)
    assert found.reason or found.samples > 0
    shares = [each.share for each in found.instructions] + [each.share for each in found.source]
    assert all(0 <= share <= 1 for share in shares)
