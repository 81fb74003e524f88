"""Test rules against measurements: on a GPU, most of the changes that a rule proves make a kernel faster.

`measured_trials.json` has the times of 314 proven changes, measured by `bench.trials`. The kernels are not in
the gallery.
"""

import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

from explorer.queries import findings

MEASURED = json.loads(Path(__file__).with_name("measured_trials.json").read_text())
DOCS = Path(__file__).parents[2] / "docs/findings.md"
#: Times that differ less are equal.
EQUAL = 1.02
#: Rules whose changes do not bear on the time of the launch.
NOT_OF_SPEED = {"index_overflow", "assertions", "autotune_keys"}


def by_rule():
    """Return for each rule the numbers of changes: faster, equal, slower."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in MEASURED["trials"]:
        ratio = each["before_ms"] / each["after_ms"]
        for rule in {*each["rules"]} - NOT_OF_SPEED:
            counts[rule][0 if ratio > EQUAL else 1 if ratio > 1 / EQUAL else 2] += 1
    return counts


@pytest.mark.parametrize("rule", sorted(by_rule()))
def test_most_proven_changes_of_a_rule_are_not_slower(rule):
    faster, equal, slower = by_rule()[rule]
    assert faster + equal + slower >= 5
    assert faster + equal >= 0.8 * (faster + equal + slower)
    assert faster > slower


def test_each_rule_that_proposes_changes_is_measured():
    proposing = {
        rule.__name__.rpartition(".")[2]
        for rule in findings.RULES
        if re.search(r"changes=|finding_of_spills\(", Path(rule.__file__).read_text())
    }
    assert proposing - NOT_OF_SPEED == set(by_rule())


def test_the_documentation_has_the_measurements():
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$", DOCS.read_text(), re.M)
    assert {rule: list(map(int, counts)) for rule, *counts in rows} == dict(by_rule())


def test_an_exact_change_with_other_results_is_rare():
    exact = [each for each in MEASURED["trials"] if each["is_exact"]]
    others = [each for each in exact if not each["has_same_results"]]
    assert len(others) <= 0.01 * len(exact) < 0.01 * len(MEASURED["trials"])
