"""Test the instructions of SASS by function."""

from explorer.analysis.assembly.sass import Place, places_by_function, places_of

SASS = """\
kernel:
.text.kernel:
B------:R-:W-:-:S01  /*0000*/  CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_s64) ;
B------:R-:W-:-:S01  /*0010*/  EXIT ;
$__internal_0_$__cuda_sm20_div_s64:
B------:R-:W-:-:S01  /*0020*/  @P0 RET.REL.NODEC R2 `(kernel) ;
"""


def test_a_function_has_the_subroutines_that_the_assembler_adds():
    functions = places_by_function(SASS, {"kernel"})
    assert functions["kernel"] == {0: Place(3, "CALL"), 16: Place(4, "EXIT"), 32: Place(6, "RET")}


def test_without_a_kernel_of_the_name_the_first_function_counts():
    assert places_of(places_by_function(SASS), "other") == {0: Place(3, "CALL"), 16: Place(4, "EXIT")}
