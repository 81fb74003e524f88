"""Test the algebraic laws of linear layouts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.layouts.linear_layout import LinearLayout

INPUTS = ("register", "lane", "warp")


@st.composite
def layouts(draw, shape=None):
    """Generate any layout, including replicated and unreached elements."""
    shape = shape or draw(st.sampled_from([(8,), (4, 8), (2, 4, 2), (1, 4), (16, 2)]))
    basis = st.tuples(*(st.integers(0, size - 1) for size in shape))
    return LinearLayout(
        tuple((name, tuple(draw(st.lists(basis, max_size=3)))) for name in INPUTS), tuple(shape)
    )


@st.composite
def invertible_layouts(draw, shape=None):
    """Generate invertible layouts: distribute the element bits over the inputs, then add rows."""
    shape = shape or draw(st.sampled_from([(8,), (4, 8), (2, 4, 2)]))
    vectors = [
        tuple(1 << bit if each == dimension else 0 for each in range(len(shape)))
        for dimension, size in enumerate(shape)
        for bit in range(size.bit_length() - 1)
    ]
    vectors = draw(st.permutations(vectors))
    for first, second in draw(st.lists(st.tuples(*[st.integers(0, len(vectors) - 1)] * 2), max_size=6)):
        if first != second:
            vectors[first] = tuple(a ^ b for a, b in zip(vectors[first], vectors[second], strict=True))
    cut = sorted(draw(st.tuples(*[st.integers(0, len(vectors))] * 2)))
    parts = (vectors[: cut[0]], vectors[cut[0] : cut[1]], vectors[cut[1] :])
    return LinearLayout(tuple((name, tuple(part)) for name, part in zip(INPUTS, parts, strict=True)), shape)


def xor(first, second):
    return tuple(a ^ b for a, b in zip(first, second, strict=True))


@given(layouts(), st.data())
def test_a_layout_is_linear(layout, data):
    places = list(layout.places())
    first, second = data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))
    together = {name: first[name] ^ second[name] for name in first}
    assert layout.apply(together) == xor(layout.apply(first), layout.apply(second))


@given(layouts())
def test_owners_are_the_places_that_lead_to_the_element(layout):
    held: dict[object, list[dict[str, int]]] = {}
    for place in layout.places():
        held.setdefault(layout.apply(place), []).append(place)
    for index in range(math.prod(layout.shape)):
        element = layout.coordinates_of(index)
        owners = layout.owners(element)
        assert sorted(map(tuple, map(dict.items, owners))) == sorted(
            map(tuple, map(dict.items, held.get(element, [])))
        )
    assert {len(places) for places in held.values()} == {layout.replication}


@given(st.data(), st.sampled_from([(8,), (4, 8)]))
def test_invert_and_compose_finds_the_same_element_elsewhere(data, shape):
    first, second = data.draw(layouts(shape)), data.draw(invertible_layouts(shape))
    there = first.invert_and_compose(second)
    for place in first.places():
        assert second.apply(dict(zip(INPUTS, there.apply(place), strict=True))) == first.apply(place)


@given(layouts())
def test_free_bits_are_what_replicates(layout):
    free = sum(layout.free_bits(name).bit_count() for name in INPUTS)
    assert 1 << free == layout.replication


@given(layouts())
def test_the_tile_of_an_input_holds_what_it_reaches(layout):
    for name in INPUTS:
        reached = [layout.apply({name: value}) for value in range(layout.size(name))]
        assert layout.tile(name) == tuple(max(each) + 1 for each in zip(*reached, strict=True))


@given(layouts())
def test_contiguity_is_a_run_of_neighbours(layout):
    for dimension in range(len(layout.shape)):
        run = layout.contiguity(dimension)
        held = {layout.apply({"register": register}) for register in range(layout.size("register"))}
        for offset in range(run):
            assert tuple(offset if each == dimension else 0 for each in range(len(layout.shape))) in held


def test_a_basis_outside_of_the_tensor_is_refused():
    with pytest.raises(ValueError, match="does not fit"):
        LinearLayout((("register", ((8,),)),), (8,))
