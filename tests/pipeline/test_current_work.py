"""Test the lines that the last words of the compiler name, on texts that can be checked by hand."""

import pytest

from explorer.pipeline.current_work import named_lines

TTGIR = """\
module {
  tt.func public @kernel(%p: !tt.ptr<f32> loc("kernel.py":5:0)) {
    %a = tt.load %p : !tt.ptr<f32> loc(#loc1)
    %b = tt.load %p : !tt.ptr<f32> loc(#loc2)
    %c = arith.addf %a, %b : f32 loc(#loc3)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc("kernel.py":5:0)
#loc1 = loc("kernel.py":6:8)
#loc2 = loc("kernel.py":7:8)
#loc3 = loc("kernel.py":8:8)
"""


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("LLVM ERROR: operation arith.addf is not possible", (8,)),
        ('LLVM ERROR: Failed to infer result type(s):\n"tt.load"(...) {}\nstack', (6, 7)),
        ('loc("x"("kernel.py":7:9)): error: no\nLLVM ERROR: Failed to infer arith.addf', (7,)),
        ("LLVM ERROR: no names\n" + "\n" * 9 + "arith.addf", ()),
        ("arith.addf", ()),  # no last words
        ("LLVM ERROR: tt.loads and xarith.addf", ()),
        ("", ()),
    ],
)
def test_the_last_words_name_lines(output, lines):
    assert named_lines("ttgir", TTGIR, output) == lines


def test_without_a_text_only_a_position_names_a_line():
    assert named_lines("", "", "LLVM ERROR: operation arith.addf") == ()
    assert named_lines("", "", 'loc("kernel.py":7:9): error: no\nLLVM ERROR: no') == (7,)
