"""Test that a diff applies as a patch, counts only real changes, and is fast on large modules."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from line_changes import count_changes
from processor_time import processor_time

from explorer.analysis.diff import Alignment, Move, unified_diff

LINE = st.sampled_from(
    [
        "}",
        "",
        "  %0 = a.b %1",
        "  %1 = a.b %0",
        "  %x_1 = c.d %0 : i32",
        "  %x = c.d %0 : i32",
        "same",
        "é\u2028\r\x0c",
    ]
)
TEXTS = st.lists(LINE, max_size=25).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "".join(f"{line}\n" for line in lines)])
)


def apply_patch(before: str, patch: str) -> str:
    """Apply a unified diff as `patch` would, checking every line of context."""
    old = re.findall(r"[^\n]*\n|[^\n]+", before)
    new, position = [], 0
    parts = re.compile(
        r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n|([ +-])([^\n]*)\n(\\ No newline at end of file\n)?"
    )
    for part in parts.finditer(patch.removeprefix("--- before\n+++ after\n")):
        if not part[5]:
            start = int(part[1]) - (part[2] != "0")
            new.extend(old[position:start])
            position = start
            assert len(new) == int(part[3]) - (part[4] != "0")
            continue
        text = part[6] if part[7] else f"{part[6]}\n"
        if part[5] in " -":
            assert old[position] == text
            position += 1
        if part[5] in " +":
            new.append(text)
    return "".join([*new, *old[position:]])


@given(before=TEXTS, after=TEXTS, context=st.integers(0, 4))
def test_an_exact_diff_is_a_patch(before, after, context):
    assert apply_patch(before, unified_diff(before, after, "none", context=context)) == after


@given(before=TEXTS, after=TEXTS)
def test_counts_agree_with_the_diff(before, after):
    for renaming in ("none", "values"):
        lines = unified_diff(before, after, renaming).split("\n")[2:]
        added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
        assert count_changes(before, after, renaming) == (added, removed)


@given(before=TEXTS, after=TEXTS)
def test_context_and_additions_are_the_text_after(before, after):
    shown = unified_diff(before, after, context=100).split("\n")[3:-1]
    kept = [line[1:] for line in shown if line[0] in " +"]
    if shown:
        assert kept == after.removesuffix("\n").split("\n") if after else not kept
    else:
        assert count_changes(before, after) == (0, 0)


BEFORE = """\
module {
  tt.func @k(%arg0: i32) {
    %0 = tt.splat %arg0 : i32 -> tensor<4xi32, #blocked>
    %1 = tt.load %0 : tensor<4xi32, #blocked>
    %2 = arith.addi %1, %0 : tensor<4xi32, #blocked>
    tt.store %0, %2 : tensor<4xi32, #blocked>
  }
}
"""


def test_nothing_changed():
    assert count_changes(BEFORE, BEFORE) == (0, 0)
    assert unified_diff(BEFORE, BEFORE) == ""


def test_a_new_operation_renumbers_the_rest():
    after = """\
module {
  tt.func @k(%arg0: i32) {
    %0 = arith.constant 1 : i32
    %1 = tt.splat %arg0 : i32 -> tensor<4xi32, #blocked>
    %2 = tt.load %1 : tensor<4xi32, #blocked>
    %3 = arith.addi %2, %1 : tensor<4xi32, #blocked>
    tt.store %1, %3 : tensor<4xi32, #blocked>
  }
}
"""
    assert count_changes(BEFORE, after) == (1, 0)
    assert count_changes(BEFORE, after, "none") == (5, 4)
    assert "+    %0 = arith.constant 1 : i32\n" in unified_diff(BEFORE, after)


def test_another_operand_is_a_change_though_it_looks_the_same():
    after = BEFORE.replace("arith.addi %1, %0", "arith.addi %1, %1")
    assert count_changes(BEFORE, after) == (1, 1)


def test_a_suffix_is_a_number_too():
    before = "%a = x.y\n%a_1 = x.z %a\n%b = x.w %a_1, %a\n"
    after = "%a = new.op\n%a_0 = x.y\n%a_1 = x.z %a_0\n%b = x.w %a_1, %a_0\n"
    assert count_changes(before, after) == (1, 0)


def test_several_results_and_block_arguments():
    before = (
        "%x, %y_1 = scf.for %i = %a iter_args(%p = %q) {\n^bb1(%v: i32):\n  use %v, %p\n}\nuse %x, %y_1\n"
    )
    after = before.replace("%y_1", "%y_9").replace("%p", "%p_3").replace("%v", "%v_2")
    assert count_changes(before, after) == (0, 0)
    assert count_changes(before, after.replace("use %x, %y_9", "use %y_9, %x")) == (1, 1)


def test_another_result_of_an_operation_without_a_name_is_a_change():
    before = "%12:2 = op\nuse %12#0\n"
    assert count_changes(before, "%7:2 = op\nuse %7#0\n") == (0, 0)
    assert count_changes(before, "%7:2 = op\nuse %7#1\n") == (1, 1)


def test_an_alias_of_a_layout_is_a_name_only():
    before = (
        "#blocked = #ttg.blocked<{order = [0]}>\n#blocked1 = #ttg.blocked<{order = [1]}>\nuse #blocked1\n"
    )
    after = "#blocked = #ttg.blocked<{order = [1]}>\nuse #blocked\n"
    added, removed = count_changes(before, after)
    assert (added, removed) == (0, 1)
    assert count_changes(before, before.replace("use #blocked1", "use #blocked")) == (1, 1)


def test_labels_of_llvm_ir_are_renumbered_too():
    before = "define void @k() {\n  br label %1\n\n1:   ; preds = %0\n  ret void\n}\n"
    after = before.replace("%1", "%7").replace("1: ", "7: ")
    assert count_changes(before, after) == (0, 0)


def module(lines: int) -> list[str]:
    """Return the worst case that a compiler writes: few distinct lines and no names."""
    chance = random.Random(1)
    kinds = ("add", "mul", "load", "getelementptr")
    return [
        f"  %{n} = llvm.{chance.choice(kinds)} %{chance.randrange(n or 1)}, %{chance.randrange(n or 1)} : i32"
        for n in range(lines)
    ]


def with_insertions(lines: list[str], share: float) -> tuple[list[str], int]:
    chance = random.Random(2)
    result: list[str] = []
    numbers: dict[str, str] = {}
    inserted = 0
    for line in lines:
        if chance.random() < share:
            result.append(f"  %{len(result)} = llvm.fence : i32")
            inserted += 1
        numbers[line.split()[0]] = f"%{len(result)}"
        result.append(re.sub(r"%\d+", lambda match: numbers.get(match[0], match[0]), line))
    return result, inserted


@pytest.mark.slow
@pytest.mark.parametrize("lines", [2_000, 30_000])
def test_a_large_module(lines):
    before = module(lines)
    after, inserted = with_insertions(before, 0.02)
    with processor_time() as taken:
        assert count_changes("\n".join(before), "\n".join(after)) == (inserted, 0)
    assert taken.seconds < 3


@pytest.mark.slow
def test_texts_with_nothing_in_common_end_too():
    before = "".join(f"a {index % 7}\n" for index in range(60_000))
    after = "".join(f"a {index % 5}\n" for index in range(60_000, 0, -1))
    with processor_time() as taken:
        added, removed = count_changes(before, after)
    assert added == removed > 0
    assert taken.seconds < 20


BEFORE_HOISTING = """\
    scf.for %i = %c0 to %n step %c1 {
      %3 = tt.splat %stride : i32 -> tensor<64xi32>
      %4 = tt.load %p : tensor<64x!tt.ptr<f32>>
      %5 = arith.muli %3, %4 : tensor<64xi32>
    }
"""


def test_an_operation_that_leaves_a_loop_has_moved():
    after = """\
    %7 = tt.splat %stride : i32 -> tensor<64xi32>
    scf.for %i = %c0 to %n step %c1 {
      %8 = tt.load %p : tensor<64x!tt.ptr<f32>>
      %9 = arith.muli %7, %8 : tensor<64xi32>
    }
"""
    alignment = Alignment(BEFORE_HOISTING, after)
    assert alignment.moves == [Move(2, 1)]


def test_an_operation_on_other_operands_has_not_moved():
    after = """\
    %7 = tt.splat %other : i32 -> tensor<64xi32>
    scf.for %i = %c0 to %n step %c1 {
      %1 = tt.splat %stride : i32 -> tensor<64xi32>
      %8 = tt.load %p : tensor<64x!tt.ptr<f32>>
      %9 = arith.muli %1, %8 : tensor<64xi32>
    }
"""
    assert Alignment(BEFORE_HOISTING, after).moves == []


def test_an_alignment_has_the_same_changes_as_the_counts():
    after = BEFORE_HOISTING.replace("muli", "addi")
    changed = [span for span in Alignment(BEFORE_HOISTING, after).spans if not span.same]
    assert [(len(span.before), len(span.after)) for span in changed] == [(1, 1)]
    assert count_changes(BEFORE_HOISTING, after) == (1, 1)


RENAMED_END = """\
tt.func @k(%p: !tt.ptr<f32>, %n: i32) {
  %end = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %x = tt.load %p : !tt.ptr<f32>
  %y = tt.load %p : !tt.ptr<f32>
  %d = arith.subf %x, %y : f32
  scf.for %i = %zero to %n step %end {
    tt.store %p, %d : !tt.ptr<f32>
  }
}
"""


def renamed(text, names):
    return re.sub(r"%[\w]+", lambda found: names.get(found[0], found[0]), text)


def test_another_name_of_a_value_is_no_change():
    assert count_changes(RENAMED_END, renamed(RENAMED_END, {"%end": "%c1_i32", "%d": "%difference"})) == (
        0,
        0,
    )


def test_values_that_exchange_their_names_are_no_change():
    assert count_changes(RENAMED_END, renamed(RENAMED_END, {"%x": "%y", "%y": "%x"})) == (0, 0)


def test_operands_that_change_places_are_a_change():
    assert count_changes(RENAMED_END, RENAMED_END.replace("%x, %y", "%y, %x")) == (1, 1)


def test_another_constant_of_the_same_name_is_a_change():
    after = RENAMED_END.replace("constant 1 ", "constant 2 ")
    assert count_changes(RENAMED_END, after) == (1, 1)
    assert count_changes(RENAMED_END, RENAMED_END.replace("step %end", "step %zero")) == (1, 1)


def test_constants_that_are_made_anew_elsewhere_leave_their_uses_equal():
    lines = renamed(RENAMED_END, {"%end": "%c1_i32", "%zero": "%c0_i32"}).split("\n")
    lines[1:3] = lines[2:0:-1]
    alignment = Alignment(RENAMED_END, "\n".join(lines))
    assert len(alignment.moves) == 1
    assert sum(len(span.after) for span in alignment.spans if not span.same) == 1


def test_uses_of_one_of_two_equal_values_are_equal_to_those_of_the_other():
    before = RENAMED_END.replace("  %zero", "  %again = arith.constant 1 : i32\n  %zero", 1)
    before = before.replace("step %end", "step %again")
    assert count_changes(before, RENAMED_END) == (0, 1)


def test_two_loads_are_not_one():
    """Something may be stored between them."""
    after = RENAMED_END.replace("  %y = tt.load %p : !tt.ptr<f32>\n", "").replace("%x, %y", "%x, %x")
    assert count_changes(RENAMED_END, after) == (1, 2)


@pytest.mark.slow
def test_the_time_grows_as_the_text_does():
    """Test with a module of 20,000 lines in which every value has another name."""
    seconds = []
    for lines in (5_000, 20_000):
        before = ["  %0 = llvm.mlir.constant(1 : i32) : i32", *module(lines)[1:]]
        after = [re.sub(r"%(\d+)", r"%renamed\1x", line) for line in before]
        with processor_time() as taken:
            assert count_changes("\n".join(before), "\n".join(after)) == (0, 0)
        seconds.append(taken.seconds)
    assert seconds[1] < 12 * seconds[0] + 0.5
