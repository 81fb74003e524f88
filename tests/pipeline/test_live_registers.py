"""Live registers of the gallery's machine code against the assembler's report, by both Tritons."""

import re

import pytest

from explorer.examples import load_examples
from explorer.model import Request
from explorer.model.hardware import find_target
from explorer.pipeline.compiler_queries import registers

EXAMPLES = [example.name for example in load_examples()]
CASES = [(name, "cuda:90") for name in EXAMPLES] + [
    ("softmax", "cuda:80"),
    ("matmul", "cuda:80"),
    ("matmul", "cuda:100"),
    ("matmul_persistent", "cuda:100"),
]


@pytest.mark.parametrize(("example", "target"), CASES)
def test_the_assembler_takes_what_is_named_and_two_more(gallery, example, target):
    """The assembler adds two registers that no instruction names; `maxnreg` sets the number exactly."""
    captured = gallery(example, target)
    if isinstance(captured.live, str):
        assert target == "cuda:80"
        assert "Old format" in captured.live
        return
    (named,) = captured.live.named
    most = max(each.general for each in captured.live.instructions)
    taken = captured.of("resources")[0].registers
    asked = re.search(r"\.maxnreg (\d+)", captured.stages["ptx"].text)
    assert most <= named.general <= taken
    assert taken == (int(asked[1]) if asked else named.general + 2)


@pytest.mark.parametrize(("example", "target"), CASES)
def test_no_instruction_names_a_register_beyond(gallery, example, target):
    captured = gallery(example, target)
    if isinstance(captured.live, str):
        return
    text = captured.stages["sass"].text
    highest = max(map(int, re.findall(r"(?<![\w.])R(\d+)\b", text)))
    assert highest < captured.live.named[0].general
    addresses = {int(each, 16) for each in re.findall(r"/\*([0-9a-f]{4,})\*/", text)}
    assert {each.address for each in captured.live.instructions} <= addresses


CALLED = """\
\t.section\t.text.kernel,"ax",@progbits
                                    // |  GPR          | PRED  |
                                    // |  # 0 1 2 3 4  | # 0   |
        /*0000*/  MOV R2, R1 ;      // |  2   v ^      |       |
        /*0010*/  CALL trap ;       // |  2   : :      |       |
        /*0020*/  BPT.TRAP 0x1 ;    // |  5 : : : : :  | 1 :   |
        /*0030*/  RET R0 ;          // |  5 v : : : :  | 1 :   |
"""


def test_registers_that_are_only_alive_in_a_called_function_are_not_named(monkeypatch):
    monkeypatch.setattr(registers, "_disassemble", lambda path: (CALLED, ""))
    live = registers.live_registers(Request("", "cuda:100", "3.9.0"), find_target("cuda:100"))
    assert [(each.function, each.general) for each in live.named] == [("kernel", 3)]
    assert [each.general for each in live.instructions] == [2, 2, 5, 5]
