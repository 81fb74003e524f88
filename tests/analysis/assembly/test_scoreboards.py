"""Test which instructions a wait for a scoreboard is connected to."""

import pytest

from explorer.analysis.assembly.scoreboards import find_waits
from explorer.analysis.graphs import NothingToDraw


def waits(*lines):
    """Return the setters of each wait: {(line, scoreboard): ["3!", "5"]}; "!" marks the nearest."""
    text = "\n".join(["kernel:", *lines])
    return {
        (each.line, each.scoreboard): [f"{one.line}{'!' * one.is_nearest}" for one in each.setters]
        for each in find_waits(text)
    }


def code(control, address, text):
    return f"{control}  /*{address:04x}*/  {text} ;"


def test_a_wait_is_for_all_that_set_the_scoreboard_since_the_wait_before():
    found = waits(
        code("B------:R-:W2:-:S01", 0x00, "LDC R1, c[0x0][0x28]"),
        code("B--2---:R-:W2:-:S01", 0x10, "LDG.E R2, desc[UR4][R1.64]"),
        code("B------:R-:W2:-:S01", 0x20, "LDG.E R3, desc[UR4][R1.64+0x4]"),
        code("B--2---:R-:W-:-:S01", 0x30, "FADD R2, R2, R3"),
        code("B------:R-:W-:-:S05", 0x40, "EXIT"),
    )
    assert found == {(3, "2"): ["2!"], (5, "2"): ["3", "4!"]}


def test_what_a_predicate_may_keep_from_setting_hides_nothing_before_it():
    found = waits(
        code("B------:R-:W0:-:S01", 0x00, "LDS R2, [R0]"),
        code("B------:R-:W0:-:S01", 0x10, "@!P0 LDS R2, [R1]"),
        code("B0-----:R-:W-:-:S01", 0x20, "FADD R2, R2, R3"),
        code("B------:R-:W-:-:S05", 0x30, "EXIT"),
    )
    assert found == {(4, "0"): ["2!", "3!"]}


def test_reading_of_operands_is_told_from_a_result():
    text = "\n".join(
        [
            "kernel:",
            code("B------:R1:W-:-:S01", 0x00, "STG.E desc[UR4][R2.64], R4"),
            code("B-1----:R-:W-:-:S01", 0x10, "MOV R4, R5"),
            code("B------:R-:W-:-:S05", 0x20, "EXIT"),
        ]
    )
    (wait,) = find_waits(text)
    assert [setter.use for setter in wait.setters] == ["operands"]


def test_all_paths_to_a_loop_are_followed_and_back():
    found = waits(
        code("B------:R-:W0:-:S01", 0x00, "LDG.E R2, desc[UR4][R0.64]"),
        ".L_x_0:",
        code("B0-----:R-:W-:-:S01", 0x10, "FADD R3, R2, R3"),
        code("B------:R-:W0:-:S01", 0x20, "LDG.E R2, desc[UR4][R0.64]"),
        code("B------:R-:W-:-:S05", 0x30, "@P0 BRA `(.L_x_0)"),
        code("B0-----:R-:W-:-:S01", 0x40, "FADD R3, R2, R3"),
        code("B------:R-:W-:-:S05", 0x50, "EXIT"),
    )
    assert found == {(4, "0"): ["2!", "5!"], (7, "0"): ["5!"]}


def test_a_wait_for_a_number_of_operations_leaves_the_others_in_flight():
    found = waits(
        code("B------:R-:W0:-:S01", 0x00, "LDGDEPBAR"),
        code("B------:R-:W0:-:S01", 0x10, "LDGDEPBAR"),
        code("B------:R-:W-:-:S04", 0x20, "DEPBAR.LE SB0, 0x1"),
        code("B------:R-:W-:-:S04", 0x30, "DEPBAR.LE SB0, 0x0"),
        code("B------:R-:W-:-:S04", 0x40, "DEPBAR.LE SB0, 0x0"),
        code("B------:R-:W-:-:S05", 0x50, "EXIT"),
    )
    assert found == {(4, "0"): ["2", "3!"], (5, "0"): ["2", "3!"], (6, "0"): []}


def test_asynchronous_matrix_products_have_scoreboards_of_their_own():
    found = waits(
        code("B------:R-:W-:-:S01", 0x00, "HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0"),
        code("B------:R-:W-:-:S05", 0x10, "WARPGROUP.DEPBAR.LE gsb0, 0x0"),
        code("B------:R-:W-:-:S05", 0x20, "EXIT"),
    )
    assert found == {(3, "gsb0"): ["2!"]}


def test_a_called_function_waits_for_its_caller_and_the_caller_for_it():
    found = waits(
        code("B------:R-:W0:-:S01", 0x00, "LDG.E R2, desc[UR4][R0.64]"),
        code("B------:R-:W-:-:S05", 0x10, "CALL.REL.NOINC `($helper)"),
        code("B-1----:R-:W-:-:S01", 0x20, "FADD R3, R2, R3"),
        code("B------:R-:W-:-:S05", 0x30, "EXIT"),
        "$helper:",
        code("B0-----:R-:W1:-:S01", 0x40, "MUFU.RCP R2, R2"),
        code("B------:R-:W-:-:S05", 0x50, "RET.REL.NODEC R6 `(kernel)"),
    )
    assert found == {(4, "1"): ["7!"], (7, "0"): ["2!"]}


def test_a_text_without_instructions_is_refused():
    with pytest.raises(NothingToDraw):
        find_waits("")
