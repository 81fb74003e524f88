"""Which passes of two pipelines belong together: by their names, their order and their effects.

In: the passes of both, in order. Out: pairs, and the passes that only one pipeline has. A pass that runs
several times is matched with the run of equal effect.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from explorer.analysis.diff.sequence import align

#: How two passes belong together: the same name in the same order, the same name elsewhere, or a different
#: name and a similar effect; or a pass is alone.
How = Literal["same", "moved", "renamed", "alone"]
#: How many operations of each kind a pass added (or, negative, removed), sorted by kind.
Effect = tuple[tuple[str, int], ...]

#: The weight of a pair of the same name, the additional weight if both changed something or nothing, and the
#: weight of equal effects. The order counts first: no likely pair outweighs a pass that is left alone.
_SAME_NAME, _BOTH_CHANGED, _SAME_EFFECT = 100, 2, 4

#: The least share of the effect that a renamed pass has in common with its counterpart. The modules of two
#: Triton versions differ, so that the effects of the same pass differ a little.
_LEAST_COMMON_EFFECT = 0.7

#: Longer pipelines than these are aligned by the names of the passes only.
_MOST_COMPARISONS = 1_000_000
#: The number of passes before and after the place of a pass among which a moved pass is searched.
_MOST_CANDIDATES = 200


class PassFacts(NamedTuple):
    """A pass. `effect` is empty if it is not known, or if no kind of operation changed in number."""

    stage: str
    name: str
    changed: bool
    effect: Effect


@dataclass(frozen=True)
class Match:
    """A pass of both pipelines or of one, by its positions in them; None: not there."""

    before: int | None
    after: int | None
    how: How


def match_passes(before: Sequence[PassFacts], after: Sequence[PassFacts]) -> list[Match]:
    """Match the passes of two pipelines. The result has the order of both, as far as they agree."""
    after_of = dict(_in_order(before, after))
    how: dict[int, How] = dict.fromkeys(after_of, "same")
    free = sorted(set(range(len(after))) - set(after_of.values()))
    for kind in ("moved", "renamed"):
        candidates: dict[str, list[int]] = {}
        for j in free:
            if kind == "moved" or after[j].effect:
                candidates.setdefault(_group(after[j], kind), []).append(j)
        for i, one in enumerate(before):
            group = candidates.get(_group(one, kind), []) if i not in after_of else []
            place = bisect_left(group, i)
            near = group[max(place - _MOST_CANDIDATES, 0) : place + _MOST_CANDIDATES]
            found = [j for j in near if kind == "moved" or _have_same_effect(one, after[j])]
            if found:
                best = max(found, key=lambda j: (_worth(one, after[j]), -abs(j - i)))
                after_of[i], how[i] = best, kind
                del group[bisect_left(group, best)]
        taken = set(after_of.values())
        free = [j for j in free if j not in taken]
    matches: list[Match] = []
    place = 0
    for i in range(len(before)):
        partner = after_of.get(i)
        if partner is not None and how[i] == "same":
            end = bisect_left(free, partner)
            matches.extend(Match(None, j, "alone") for j in free[place:end])
            place = end
        matches.append(Match(i, partner, how.get(i, "alone")))
    matches.extend(Match(None, j, "alone") for j in free[place:])
    return matches


def _group(one: PassFacts, kind: Literal["moved", "renamed"]) -> str:
    """Return the property that two passes must share: the name (moved) or the stage (renamed)."""
    return one.name if kind == "moved" else one.stage


def _have_same_effect(one: PassFacts, other: PassFacts) -> bool:
    return _common_effect(one, other) >= _LEAST_COMMON_EFFECT


def _common_effect(one: PassFacts, other: PassFacts) -> float:
    """Return the share of the operations added and removed that both passes added and removed, 0 to 1."""
    mine, theirs = ({(kind, count > 0): abs(count) for kind, count in each.effect} for each in (one, other))
    keys = mine.keys() | theirs.keys()
    common, all_ = (sum(pick(mine.get(key, 0), theirs.get(key, 0)) for key in keys) for pick in (min, max))
    return common / all_ if all_ else 0.0


def _in_order(before: Sequence[PassFacts], after: Sequence[PassFacts]) -> list[tuple[int, int]]:
    """Pair passes of the same name in the same order, so that the pairs are worth the most."""
    if len(before) * len(after) > _MOST_COMPARISONS:
        return align(*([(each.stage, each.name) for each in side] for side in (before, after)))
    width = len(after) + 1
    worth = [[0] * width for _ in range(len(before) + 1)]
    for i in range(len(before) - 1, -1, -1):
        for j in range(len(after) - 1, -1, -1):
            pair = _worth(before[i], after[j])
            worth[i][j] = max(worth[i + 1][j], worth[i][j + 1], pair + worth[i + 1][j + 1] if pair else 0)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(before) and j < len(after):
        pair = _worth(before[i], after[j])
        if pair and worth[i][j] == pair + worth[i + 1][j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif worth[i][j] == worth[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _worth(one: PassFacts, other: PassFacts) -> int:
    if (one.stage, one.name) != (other.stage, other.name):
        return 0
    has_same_effect = one.changed and other.changed and one.effect == other.effect
    return _SAME_NAME + _BOTH_CHANGED * (one.changed == other.changed) + _SAME_EFFECT * has_same_effect
