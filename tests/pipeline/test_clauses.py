"""Test the locations of instructions in clauses, with assembly that is made up."""

from explorer.pipeline.clauses import with_locations_in_clauses

LLVM_IR = "define void @f() #0 {\n}\nattributes #0 = { nounwind }\n"
WITH_CLAUSE = """\
f:
\t.loc\t1 1 0
\ts_clause 0x1
\tglobal_load_b32 v0, v[2:3], off
\tglobal_load_b32 v1, v[4:5], off
.LBB0_1:
\tv_add_f32_e32 v0, v0, v1
"""
WITHOUT = """\
f:
\t.loc\t1 1 0
\tglobal_load_b32 v0, v[2:3], off
\t.loc\t1 2 0
\tglobal_load_b32 v1, v[4:5], off
.LBB0_1:
\t.loc\t1 1 0
\tv_add_f32_e32 v0, v0, v1
"""


def test_each_instruction_of_a_clause_has_its_own_location():
    asked = []

    def translate(text: str) -> str:
        asked.append(text)
        return WITHOUT

    located = with_locations_in_clauses(WITH_CLAUSE, LLVM_IR, translate)
    assert located == WITHOUT.replace("\tglobal", "\ts_clause 0x1\n\tglobal", 1)
    assert asked == [LLVM_IR.replace("#0 = {", '#0 = { "amdgpu-hard-clause-length-limit"="1"')]


def test_other_code_without_clauses_changes_nothing():
    other = WITHOUT.replace("v_add", "v_sub")
    assert with_locations_in_clauses(WITH_CLAUSE, LLVM_IR, lambda _text: other) == WITH_CLAUSE


def test_assembly_without_clauses_is_translated_once():
    def translate(text: str) -> str:
        raise AssertionError(text)

    assert with_locations_in_clauses(WITHOUT, LLVM_IR, translate) == WITHOUT
