"""Test sources with unusual characters, line endings and errors."""

import pytest

from explorer.model import Diagnostic, Event, Request, Stage
from explorer.pipeline.job import perform

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("private_cache")]

KERNEL = """\
import torch, triton
import triton.language as tl

@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) + 1)

add[(1,)](torch.empty(128, device="cuda"), 128, BLOCK=128)
"""


def run(source, options=None):
    events: list[Event] = []
    perform(Request(source, "cuda:90", "", options=options or {}), events.append)
    return events


def errors(events):
    return [event for event in events if isinstance(event, Diagnostic) and event.severity == "error"]


@pytest.mark.parametrize(
    "source",
    [
        "\ufeff" + KERNEL,
        KERNEL.replace("\n", "\r\n"),
        KERNEL.replace("\n", "\r"),
        KERNEL.replace("@triton.jit", "\f@triton.jit"),
        KERNEL.replace("    i =", "    # \u2028 \u2029 \x85 \x0b \x0c \x1c \x1d \x1e\n    i ="),
        KERNEL.replace("    i =", '    "a\u2028b"\n    i ='),
    ],
    ids=["byte order mark", "CRLF", "CR", "form feed", "separators in a comment", "separator in a string"],
)
def test_characters_that_end_no_line_in_python_end_none_here(source):
    events = run(source)
    assert errors(events) == []
    assert events[-1].status == "complete"
    specialized = next(event for event in events if event.kind == "specialized")
    assert specialized.line == 5


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("x = 1\ny = 'a\0b'\n", 2, "null character"),
        ("x = 1\nraise KeyboardInterrupt\n", 2, "KeyboardInterrupt"),
        ("class Odd(BaseException): pass\nraise Odd('boo')\n", 2, "Odd: boo"),
        ("class Odd(Exception):\n    def __str__(self): raise self\nraise Odd\n", 3, "Odd"),
        ("x = " + "-" * 100_000 + "1\n", 0, "nested too deeply"),
        ("x = " + "1+" * 100_000 + "1\n", 0, "nested too deeply"),
        (KERNEL.replace("def add", "def ädd").replace("\nadd[", "\nädd["), 5, "identifier: ädd"),
        (KERNEL.replace("    i =", "    add(x, n, BLOCK)\n    i ="), 6, "add"),
    ],
)
def test_what_is_wrong_is_said_on_its_line(source, line, message):
    first = errors(run(source))[0]
    assert message in first.message
    assert first.line == line


WITH_GLOBAL = KERNEL.replace("@triton.jit", "LOG2E = 1.44\n@triton.jit").replace("+ 1)", "+ LOG2E)")


@pytest.mark.parametrize("annotation", ["", ": tl.constexpr"])
def test_a_global_variable_is_named_with_all_advice_of_triton(annotation):
    (error,) = errors(run(WITH_GLOBAL.replace("LOG2E =", f"LOG2E{annotation} =")))
    assert error.message == "The kernel uses the global variable LOG2E, which is not a constexpr."
    assert error.line == 8
    for advice in ("LOG2E = tl.constexpr(…)", "LOG2E: tl.constexpr", "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1"):
        assert advice in error.hint


@pytest.mark.parametrize(
    "advised",
    [
        WITH_GLOBAL.replace("1.44", "tl.constexpr(1.44)"),
        WITH_GLOBAL.replace("def add(x, n", "def add(x, LOG2E").replace('cuda"), 128', 'cuda"), 1.44'),
        "import os\nos.environ['TRITON_ALLOW_NON_CONSTEXPR_GLOBALS'] = '1'\n" + WITH_GLOBAL,
    ],
    ids=["constexpr", "argument", "environment variable"],
)
def test_the_advice_about_a_global_variable_works(advised, monkeypatch):
    monkeypatch.setenv(
        "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS", "0"
    )  # a script that sets it changes this process
    assert run(advised)[-1].status == "complete"


def test_that_there_is_no_recursion_is_said():
    source = KERNEL.replace("    i =", "    add(x, n, BLOCK)\n    i =")
    assert "does not support recursion" in errors(run(source))[0].hint


def test_a_name_that_no_binary_can_have_is_to_be_changed():
    source = KERNEL.replace("def add", "def ädd").replace("\nadd[", "\nädd[")
    assert "rename it" in errors(run(source))[0].hint


def test_the_types_that_a_function_of_libdevice_takes_are_named():
    source = KERNEL.replace("    i =", "    libdevice.tanh(tl.full((2,), 1, tl.float16))\n    i =")
    (error,) = errors(run("from triton.language.extra import libdevice\n" + source))
    assert error.message == "The external function takes (fp32) or (fp64), not (fp16)."
    assert error.line == 7
    assert "x.to(tl.float32)" in error.hint


def test_an_attribute_that_a_value_lacks_is_not_blamed_on_the_version():
    source = KERNEL.replace("tl.arange(0, BLOCK)", "tl.program_id(0).nothing")
    (error,) = errors(run(source))
    assert error.line == 6
    assert error.hint == ""


def test_a_complaint_of_the_code_generator_is_an_error():
    source = KERNEL.replace(
        "    tl.store",
        "    i = tl.inline_asm_elementwise('mov.u32 $0, $1;', '=Q,r', [i], tl.int32, True, 1)\n    tl.store",
    )
    assert any("could not allocate output register" in error.message for error in errors(run(source)))


def test_an_assertion_that_the_compiler_survives_is_shown():
    error = errors(run(KERNEL, {"num_ctas": 17}))[-1]
    assert "Assertion `" in error.message


@pytest.mark.parametrize("indentation", ["", " "])
def test_what_the_assembler_of_amd_rejects_is_at_its_source_line(indentation):
    asm = f"v_mov_b32 $0, $1\\n{indentation}v_bogus_b32 $0, $1"
    source = KERNEL.replace(
        "    tl.store",
        f"    i = tl.inline_asm_elementwise('{asm}', '=v,v', [i], tl.int32, True, 1)\n    tl.store",
    )
    events: list[Event] = []
    perform(Request(source, "hip:gfx942", ""), events.append)
    (error,) = errors(events)
    assert (error.line, error.stage) == (7, "amdgcn")
    stage = next(event for event in events if isinstance(event, Stage) and event.name == "amdgcn")
    number = next(n for n, line in enumerate(stage.text.splitlines(), 1) if "v_bogus_b32" in line)
    assert f"invalid instruction (line {number} of AMDGCN: `v_bogus_b32 " in error.message
