"""Test that lexers lose nothing, know all real output, work line by line, and take linear time."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.lexers import count_lines, highlight_ansi, highlight_lines
from explorer.model.languages import LANGUAGES

OURS = sorted(set(LANGUAGES) - {"python", "text"})
#: One language for each lexer of ours: several dialects share one.
DISTINCT = ("python-ast", "ttir", "llir", "ptx", "sass", "amdgcn")

#: The tokens of the lexers, for text that is nearly valid.
PIECES = (
    '%0 %a_1 #blocked !tt.ptr @f \' " \\" /* */ // ; : :: = == . , ( ) { } [ ] < > -> - + 1 0x1F 1.5e-3 ?'
    " ` \\ # 128x64xf16 tt.load ld.global.b32 $L__1: .L_x_1: @!P0 @%p1 R1.reuse UR4 RZ c[0x0][0x160] /*0010*/"
    " v[1:2] B0-2---:R1:W-:Y:S04 s_load_dword i32 loc( dense true None body: é \u2028 \x00 \r \t \x85 漢"
)
LINES = st.lists(st.one_of(st.sampled_from(PIECES.split(" ")), st.text(max_size=3)), max_size=12).map(
    " ".join
)
TEXTS = st.lists(LINES, max_size=6).map("\n".join)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@given(text=TEXTS)
def test_lines_keep_every_character(language, text):
    lines = highlight_lines(text, language)
    assert "\n".join("".join(value for _, value in line) for line in lines) == text.removesuffix("\n")
    assert len(lines) == count_lines(text)
    for line in lines:
        assert all(value for _, value in line)
        assert all(left[0] != right[0] for left, right in pairwise(line))


@pytest.mark.slow
@pytest.mark.parametrize("language", DISTINCT)
@given(lines=st.lists(LINES.map(lambda line: line.replace("\n", " ")), max_size=8), data=st.data())
def test_any_run_of_lines_reads_as_in_the_whole(language, lines, data):
    start = data.draw(st.integers(0, len(lines)))
    stop = data.draw(st.integers(start, len(lines)))
    assert highlight_lines(lines[start:stop], language) == highlight_lines(lines, language)[start:stop]


def test_real_output_reads_the_same_in_chunks(real_texts):
    for (_, language), text in real_texts.items():
        lines = text.removesuffix("\n").split("\n")
        whole = highlight_lines(text, language.split()[0])
        chunks = [lines[start : start + 97] for start in range(0, len(lines), 97)]
        assert [line for chunk in chunks for line in highlight_lines(chunk, language.split()[0])] == whole


def test_nothing_in_real_output_is_unknown(real_texts):
    for (target, language), text in real_texts.items():
        for number, line in enumerate(highlight_lines(text, language.split()[0]), 1):
            unknown = [value for short_class, value in line if short_class == "err"]
            assert not unknown, (target, language, number, unknown)


def spans(text: str, language: str) -> list[tuple[str, str]]:
    (line,) = highlight_lines([text], language)
    return [(short_class, value) for short_class, value in line if short_class not in ("", "p")]


def test_ttgir():
    assert spans('%x_7 = tt.load %a {axis = 1 : i32} : tensor<128x64x!tt.ptr<f16>, #blocked1>', "ttgir") == [
        ("nv", "%x_7"), ("nf", "tt.load"), ("nv", "%a"), ("na", "axis"), ("m", "1"), ("kt", "i32"),
        ("kt", "tensor"), ("m", "128x64x"), ("kt", "!tt.ptr"), ("kt", "f16"), ("nd", "#blocked1"),
    ]  # fmt: skip
    assert spans("#mma = #ttg.nvidia_mma<{versionMajor = 3}>", "ttgir") == [
        ("nd", "#mma"), ("nd", "#ttg.nvidia_mma"), ("na", "versionMajor"), ("m", "3"),
    ]  # fmt: skip


def test_llvm_dialect():
    assert spans("%5 = llvm.call @llvm.nvvm.read.ptx.sreg.tid.x() : () -> i32", "mlir-llvm") == [
        ("nv", "%5"), ("nf", "llvm.call"), ("nb", "@llvm.nvvm.read.ptx.sreg.tid.x"), ("kt", "i32"),
    ]  # fmt: skip


def test_llvm_ir():
    assert spans("  %.decomposed = sub nsw i32 %12, -18, !dbg !23", "llir") == [
        ("nv", "%.decomposed"), ("nf", "sub"), ("k", "nsw"), ("kt", "i32"), ("nv", "%12"), ("m", "-18"),
        ("nd", "!dbg"), ("nd", "!23"),
    ]  # fmt: skip
    assert spans("42:    ; preds = %3", "llir") == [("nl", "42"), ("c1", "; preds = %3")]


def test_ptx():
    assert spans("\t@!%p1 ld.global.v4.b32 {%r1, %r2}, [ %rd3 + 16 ];", "ptx") == [
        ("nv", "@!%p1"), ("nf", "ld"), ("na", ".global.v4"), ("kt", ".b32"), ("nv", "%r1"), ("nv", "%r2"),
        ("nv", "%rd3"), ("m", "16"),
    ]  # fmt: skip
    assert spans("\tmov.u32 \t%r1, %ctaid.x;", "ptx") == [
        ("nf", "mov"), ("kt", ".u32"), ("nv", "%r1"), ("nb", "%ctaid.x"),
    ]  # fmt: skip
    assert spans("$L__BB0_1:", "ptx") == [("nl", "$L__BB0_1")]


def test_sass():
    assert spans("B0-2---:R1:W-:Y:S04  /*0a10*/  @!UP0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ;", "sass") == [
        ("cs", "B0-2---:R1:W-:Y:S04"), ("c", "/*0a10*/"), ("nv", "@!UP0"), ("nf", "LDG"), ("na", ".E.128"),
        ("nv", "R4"), ("k", "desc"), ("nv", "UR4"), ("nv", "R2"), ("na", ".64"), ("mh", "+0x10"),
    ]  # fmt: skip
    assert spans("        /*0010*/                   R2UR UR4, R0.reuse ;", "sass") == [
        ("c", "/*0010*/"), ("nf", "R2UR"), ("nv", "UR4"), ("nv", "R0"), ("na", ".reuse"),
    ]  # fmt: skip
    assert spans("  /*0020*/  BRA `(.L_x_3) ;", "sass") == [
        ("c", "/*0020*/"),
        ("nf", "BRA"),
        ("nl", ".L_x_3"),
    ]


def test_amdgcn():
    assert spans("\tglobal_load_dwordx4 v[2:5], v1, s[2:3] offset:16 sc0 ; 16-byte", "amdgcn") == [
        ("nf", "global_load_dwordx4"), ("nv", "v[2:5]"), ("nv", "v1"), ("nv", "s[2:3]"), ("na", "offset"),
        ("m", "16"), ("na", "sc0"), ("c1", "; 16-byte"),
    ]  # fmt: skip
    assert spans("        .value_kind:     by_value", "amdgcn") == [("na", ".value_kind"), ("n", "by_value")]


def test_python_ast():
    assert spans("    value: Constant value='a # b'  # 12:4", "python-ast") == [
        ("na", "value"), ("nc", "Constant"), ("na", "value"), ("s", "'a # b'"), ("c1", "# 12:4"),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("language", DISTINCT)
@pytest.mark.parametrize(
    "unit",
    ["a", "0", " ", '"', "%", "%a", "a.", "a:", "/*", "@P ", "1x", "#a", "!", "\\", "é", "v[1", "'", "(",
     "a=", "R1.", "/*0*/ ", "0x", "_1", "B-"],
)  # fmt: skip
def test_time_is_linear_in_a_hostile_line(language, unit):
    line = unit * (100_000 // len(unit))
    start = time.process_time()
    highlight_lines(line, language)
    assert time.process_time() - start < 2  # quadratic, it would take half a minute


@pytest.mark.parametrize("language", OURS)
@given(text=TEXTS)
@settings(max_examples=20)
def test_a_terminal_shows_the_same_characters(language, text):
    coloured = highlight_ansi(text.replace("\x1b", ""), language)
    plain = "".join(
        part.partition("m")[2] if index else part for index, part in enumerate(coloured.split("\x1b["))
    )
    assert plain == text.replace("\x1b", "")


def test_an_unknown_language_is_plain_text():
    """A forged result may name any language."""
    assert highlight_lines("a < b\n", "brainfuck") == highlight_lines("a < b\n", "text")
