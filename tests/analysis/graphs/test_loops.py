"""Test dominators and loops against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.graphs.loops import find_loops, immediate_dominators

graphs = st.integers(1, 9).flatmap(
    lambda count: st.lists(
        st.lists(st.integers(0, count - 1), max_size=3, unique=True), min_size=count, max_size=count
    )
)


def reachable(successors, without=None):
    seen, waiting = set(), [] if without == 0 else [0]
    while waiting:
        block = waiting.pop()
        if block not in seen and block != without:
            seen.add(block)
            waiting.extend(successors[block])
    return seen


def dominators(successors):
    """Return the dominators of each reachable block."""
    all_reachable = reachable(successors)
    return {
        block: {
            other for other in all_reachable if other == block or block not in reachable(successors, other)
        }
        for block in all_reachable
    }


def reaches(successors, start, goal, without):
    seen, waiting = set(), [start]
    while waiting:
        block = waiting.pop()
        if block == without:
            continue
        if block == goal:
            return True
        if block not in seen:
            seen.add(block)
            waiting.extend(successors[block])
    return False


@given(graphs)
def test_dominators_are_what_every_way_passes(successors):
    found = immediate_dominators(successors)
    expected = dominators(successors)
    for block in range(len(successors)):
        if block not in expected:
            assert found[block] is None
        elif block == 0:
            assert found[block] == 0
        else:
            strict = expected[block] - {block}
            assert found[block] in strict
            assert strict == expected[found[block]]


@given(graphs)
def test_a_loop_is_what_comes_back_to_its_header_without_passing_it(successors):
    above = dominators(successors)
    expected: dict[int, set[int]] = {}
    for tail, heads in enumerate(successors):
        for head in heads:
            if tail in above and head in above[tail]:
                inside = {block for block in above if reaches(successors, block, tail, head)} | {head}
                expected.setdefault(head, set()).update(inside)
    nest = find_loops(successors)
    assert {loop.header for loop in nest.loops} == set(expected)
    for block in range(len(successors)):
        assert nest.depth(block) == sum(block in inside for inside in expected.values())


def test_nested_loops():
    #        0 → 1 → 2 ⟲ → 3 → 1, 3 → 4
    nest = find_loops([[1], [2], [2, 3], [1, 4], []])
    assert [(loop.header, loop.depth, loop.parent) for loop in nest.loops] == [(1, 1, None), (2, 2, 0)]
    assert [nest.depth(block) for block in range(5)] == [0, 1, 2, 1, 0]
    assert nest.is_back_edge(3, 1)
    assert nest.is_back_edge(2, 2)
    assert not nest.is_back_edge(0, 1)


def test_what_has_two_entries_is_no_loop():
    assert find_loops([[1, 2], [2], [1]]).loops == []


@pytest.mark.slow
def test_many_blocks_take_no_recursion():
    count = 50_000
    nest = find_loops([[block + 1] for block in range(count - 1)] + [[0]])
    assert [loop.header for loop in nest.loops] == [0]
