"""Test which warnings outweigh the warnings that a change removes."""

import pytest

from explorer.queries.finding_changes import losses_of
from explorer.queries.findings.finding import Cost, Finding


def warning(rule, share=None, severity="warning"):
    return Finding(rule, severity, "", cost=Cost(share, "instructions", "observed") if share else None)


SPILLS = warning("spills", 0.4)
DIVISIONS = warning("wide_divisions", 0.35), warning("wide_divisions", 0.69)


@pytest.mark.parametrize(
    ("vanished", "appeared", "worse", "losses"),
    [
        ([], [warning("sectors", 0.5)], [], ["`sectors` appears, 50 % of the instructions"]),
        ([SPILLS], [warning("sectors", 0.5)], [], ["`sectors` appears, 50 % of the instructions"]),
        ([SPILLS], [warning("sectors", 0.3)], [], []),
        ([SPILLS], [warning("sectors")], [], ["`sectors` appears"]),
        ([SPILLS], [warning("sectors", 0.5, "note")], [], []),
        ([SPILLS], [warning("loop_overhead", 0.6)], [], []),
        ([warning("pipelining")], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
        ([warning("sectors", 0.3)], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
        ([warning("sectors", 0.5)], [], [DIVISIONS], []),
        ([warning("register_cliff", 0.2)], [], [DIVISIONS], []),
        ([warning("register_cliff", 0.2)], [SPILLS], [], []),
        # The spills hide this finding: it has not vanished.
        ([warning("loop_overhead", 0.6)], [SPILLS], [], ["`spills` appears, 40 % of the instructions"]),
        # A note gains nothing.
        ([warning("grid", 0.9, "note")], [], [DIVISIONS], ["`wide_divisions` costs more: 35 % → 69 %"]),
    ],
)
def test_a_warning_counts_unless_it_costs_less_than_the_removed_one_or_was_hidden_by_it(
    vanished, appeared, worse, losses
):
    assert list(losses_of(vanished, appeared, worse)) == losses
