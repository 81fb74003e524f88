"""Test which passes of two pipelines belong together."""

from explorer.analysis.pass_matching import Match, PassFacts, match_passes

GROWS = (("arith.constant", 2),)
SHRINKS = (("arith.addi", -3), ("arith.constant", -1))


def passes(*rows):
    """Make passes of the TTGIR stage from names, or names and effects."""
    return [
        PassFacts("ttgir", *((row, False, ()) if isinstance(row, str) else (row[0], True, row[1])))
        for row in rows
    ]


def pairs(before, after):
    return [(match.before, match.after, match.how) for match in match_passes(before, after)]


def test_a_pass_that_runs_twice_is_matched_with_the_run_that_did_the_same():
    before = passes(("cse", SHRINKS))
    after = passes(("cse", GROWS), ("cse", SHRINKS))
    assert match_passes(before, after) == [Match(None, 0, "alone"), Match(0, 1, "same")]


def test_the_order_counts_before_the_effect():
    before = passes("cse", "coalesce", ("cse", SHRINKS))
    after = passes(("cse", SHRINKS), "coalesce", "cse")
    assert pairs(before, after) == [(0, 0, "same"), (1, 1, "same"), (2, 2, "same")]


def test_a_pass_at_another_place_has_moved():
    assert sorted(pairs(passes("check", "a", "b"), passes("a", "b", "check"))) == [
        (0, 2, "moved"),
        (1, 0, "same"),
        (2, 1, "same"),
    ]


def test_a_pass_of_another_name_is_matched_by_its_effect():
    before = passes("a", ("canonicalize", SHRINKS))
    after = passes("a", ("canonicalize-llvm-ir", (*SHRINKS, ("llvm.add", -1))))
    assert pairs(before, after) == [(0, 0, "same"), (1, 1, "renamed")]


def test_a_pass_of_another_name_and_another_effect_is_alone():
    assert pairs(passes(("a", SHRINKS)), passes(("b", GROWS))) == [(0, None, "alone"), (None, 0, "alone")]
    assert pairs(passes("a"), passes("b")) == [(0, None, "alone"), (None, 0, "alone")]
