"""Live registers of the gallery's machine code against the assembler's report, by both Tritons."""

import json
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
    (named,) = captured.live.named
    most = max(each.general for each in captured.live.instructions)
    taken = captured.of("resources")[0].registers
    asked = re.search(r"\.maxnreg (\d+)", captured.stages["ptx"].text)
    assert most <= named.general <= taken
    assert taken == (int(asked[1]) if asked else named.general + 2)


@pytest.mark.parametrize(("example", "target"), CASES)
def test_no_instruction_names_a_register_beyond(gallery, example, target):
    captured = gallery(example, target)
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
    monkeypatch.setattr(registers, "_disassemble", lambda tool, path: (CALLED, ""))
    live = registers.live_registers(Request("", "cuda:100", "3.9.0"), find_target("cuda:100"))
    assert [(each.function, each.general) for each in live.named] == [("kernel", 3)]
    assert [each.general for each in live.instructions] == [2, 2, 5, 5]


#: The accumulators take 256 registers of each thread.
WITH_ALL_REGISTERS = """
import torch, triton
import triton.language as tl

@triton.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        left = tl.load(a + rows[:, None] * K + k + inner)
        total += tl.dot(left, tl.load(b + (k + inner)[:, None] * N + columns))
    tl.store(c + rows[:, None] * N + columns, total)

x = torch.empty(256, 256, device="cuda", dtype=torch.float16)
product[(1,)](x, x, x, 256, M=256, N=128, BLOCK=32, num_warps=4)
"""


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda:75", "cuda:80", "cuda:86", "cuda:89", "cuda:90"])
def test_any_installed_disassembler_lists_the_live_registers(services, vector_add, target):
    for version in services.versions:
        compiled = list(services.sandbox.run(Request(vector_add, target, version)))
        (binary,) = (each for each in compiled if each.kind == "binary")
        answer, _ = services.sandbox.run(Request(binary.data, target, version, task="registers"))
        live = json.loads(answer.document)
        assert len(live["instructions"]) > 30
        of_old_format = version == "3.9.0" and target != "cuda:90"
        assert live["tool"] == f"nvdisasm of Triton {'3.6.0' if of_old_format else version}"


@pytest.mark.slow
def test_without_a_disassembler_for_the_binary_it_says_what_to_install(services, vector_add, monkeypatch):
    (tool,) = registers._disassemblers()[:1]
    monkeypatch.setattr(registers, "_disassemblers", lambda: [tool])
    compiled = list(services.sandbox.run(Request(vector_add, "cuda:80", "3.9.0")))
    (binary,) = (each for each in compiled if each.kind == "binary")
    live = registers.live_registers(Request(binary.data, "cuda:80", "3.9.0"), find_target("cuda:80"))
    assert not live.instructions
    assert live.reason == (
        "sm_80: nvdisasm of Triton 3.9.0 lists no live registers of this binary. Install Triton 3.6.0 beside "
        "it: its nvdisasm lists them for all GPUs before sm_90."
    )


@pytest.mark.nightly
@pytest.mark.slow
def test_a_kernel_with_all_registers_has_live_registers_and_the_warning_of_its_assembler(services):
    for version in services.versions:
        compiled = list(services.sandbox.run(Request(WITH_ALL_REGISTERS, "cuda:90", version)))
        (warning,) = (each for each in compiled if each.kind == "diagnostic" and each.severity == "warning")
        assert warning.message.startswith("ptxas C7511: Potential Performance Loss: wgmma.mma_async")
        line = WITH_ALL_REGISTERS.splitlines()[warning.line - 1]
        assert ("tl.dot" if version == "3.9.0" else "def product") in line
        (resources,) = (each for each in compiled if each.kind == "resources")
        assert resources.registers == 255
        (binary,) = (each for each in compiled if each.kind == "binary")
        answer, _ = services.sandbox.run(Request(binary.data, "cuda:90", version, task="registers"))
        live = json.loads(answer.document)
        assert live["reason"] == ""
        most = max(each["general"] for each in live["instructions"])
        assert 240 < most <= live["named"][0]["general"] <= 255


def test_a_damaged_cubin_stays_as_it_is():
    for damaged in (b"", b"\x7fELF\x02 and more", bytes(100)):
        assert registers._with_fewer_registers(damaged) == damaged
