"""Test layout conversions against a brute-force comparison of all positions."""

from hypothesis import given
from hypothesis import strategies as st

from explorer.analysis.layouts.conversion import cost, movement
from explorer.analysis.layouts.linear_layout import LinearLayout

ORDER = ("nothing", "registers", "shuffles", "shared memory", "cluster")
KEPT = {
    "nothing": ("register", "lane", "warp", "block"),
    "registers": ("lane", "warp", "block"),
    "shuffles": ("warp", "block"),
    "shared memory": ("block",),
    "cluster": (),
}


@st.composite
def distributed(draw):
    """Generate layouts of eight elements over fixed numbers of registers, lanes, warps and blocks."""
    bits = draw(st.permutations([1, 2, 4, 0, 8]))
    names = ("register", "register", "lane", "warp", "block")
    return LinearLayout(
        tuple(
            (name, tuple((bit,) for bit, each in zip(bits, names, strict=True) if each == name))
            for name in ("register", "lane", "warp", "block")
        ),
        (16,),
    )


@given(distributed(), distributed())
def test_movement_is_the_nearest_that_serves_every_place(source, result):
    nearest = next(
        name
        for name in ORDER
        if all(
            any(
                all(owner.get(kept, 0) == place[kept] for kept in KEPT[name])
                for owner in source.owners(result.apply(place))
            )
            for place in result.places()
        )
    )
    assert movement(source, result) == nearest


def blocked(*bases):
    names = ("register", "lane", "warp")
    return LinearLayout(tuple(zip(names, bases, strict=True)), (4, 4))


ROWS = blocked(((0, 1), (0, 2)), ((1, 0),), ((2, 0),))
COLUMNS = blocked(((1, 0), (2, 0)), ((0, 1),), ((0, 2),))
REVERSED = blocked(((0, 2), (0, 1)), ((1, 0),), ((2, 0),))
LANES = blocked(((1, 0), (0, 2)), ((0, 1),), ((2, 0),))


def test_costs():
    assert cost(ROWS, ROWS, 32, movement(ROWS, ROWS), 128).moved_registers == 0
    renamed = cost(ROWS, REVERSED, 32, movement(ROWS, REVERSED), 128)
    assert (renamed.moved_registers, renamed.shuffles, renamed.shared_bytes) == (2, 0, 0)
    shuffled = cost(ROWS, LANES, 32, movement(ROWS, LANES), 128)
    assert (shuffled.shuffles, shuffled.shared_bytes) == (2, 0)
    shared = cost(ROWS, COLUMNS, 32, movement(ROWS, COLUMNS), 32)
    assert (shared.shuffles, shared.shared_bytes, shared.wavefronts) == (0, 64, 4)
