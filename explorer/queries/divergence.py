"""The query for the first compiler pass after which the modules of two compilations differ for good.

Two modules are equal here if both have the same operations: names of values, the order of operations and
attributes of the module do not count. A difference that a later pass removes does not count either. A pass
whose module is not known is left out, so the pass that is found can be a later pass than the first.
"""

from __future__ import annotations

import msgspec

from explorer.analysis.diff.stable import in_one_notation
from explorer.analysis.diff.values import alias_meanings, with_meanings
from explorer.errors import NotFound
from explorer.queries.comparison import PassPairDocument, module_name, pass_pairs, stage_diff
from explorer.queries.line_diff import DiffDocument
from explorer.queries.pass_language import pass_language
from explorer.queries.query import Query, Subject, nothing_saved
from explorer.store import Record

_MOST_LINES = 20
_MOST_CHARACTERS = 500


class KindCount(msgspec.Struct, frozen=True):
    """The operations of a kind that only one side has. Moved operations do not count."""

    name: str
    before: int
    after: int


class DivergenceDocument(msgspec.Struct, frozen=True):
    """The point where two compilations diverge.

    `last_equal` is the last pass after which the modules have the same operations, null if there is none.
    `first_different` is the pass after which they differ for good; if only one pipeline has it, the other
    side is null. It is null if the modules are equal after all passes. `stage` is the stage of the pass, or,
    if the modules are equal, the first stage whose text differs; null: all are equal. The numbers and lines
    compare the modules after the first common pass from there on, or the texts of the stage, `kinds` by the
    kind of operation. Only the first lines are listed, with aliases resolved. `before_text` and `after_text`
    are the names of these modules or texts for `stage_diff`; "" if all are equal.
    """

    last_equal: PassPairDocument | None
    first_different: PassPairDocument | None
    stage: str | None
    operations_added: int
    operations_removed: int
    operations_moved: int
    added: list[str]
    removed: list[str]
    kinds: list[KindCount]
    before_text: str = ""
    after_text: str = ""


def find_divergence(before: Record, after: Record) -> DivergenceDocument:
    """Find the point where two compilations diverge."""
    pairs = pass_pairs(before, after)
    place, parting, texts = _last_different(before, after, pairs)
    if parting is None or texts is None or parting.before is None or parting.after is None:
        return _of_stages(before, after, pairs[-1] if pairs else None)
    between = pairs[place + 1 : pairs.index(parting)]
    # A pass that only one pipeline has changed the module before the first pass that both have.
    alone = [each for each in between if _is_alone(each) and _is_changed(each)]
    equal = [each for each in pairs[: place + 1] if not _is_alone(each)]
    first = alone[0] if alone else parting
    names = module_name(parting.before.index), module_name(parting.after.index)
    return _document(equal[-1] if equal else None, first, first.stage, *texts, names)


_Texts = tuple[DiffDocument, str, str]


def _last_different(
    before: Record, after: Record, pairs: list[PassPairDocument]
) -> tuple[int, PassPairDocument | None, _Texts | None]:
    """Walk from the last pass back to a pass after which the modules are equal.

    Return its place, or -1, and the next pair of passes with the difference after it; None: there is none.
    """
    parting: PassPairDocument | None = None
    texts: _Texts | None = None
    for place in range(len(pairs) - 1, -1, -1):
        pair = pairs[place]
        # After a pass that moved to a different place of the order, the modules cannot be compared.
        if pair.before is None or pair.after is None or pair.match == "moved":
            continue
        if (
            texts is not None
            and parting is not None
            and not _is_changed(parting)
            and _follows(pairs, place, parting)
        ):
            parting = pair  # the pass after this one changed nothing: the same modules
            continue
        try:
            old = before.text_after_pass(pair.before.index)
            new = after.text_after_pass(pair.after.index)
        except NotFound:  # The module is not known. The pass before it is compared.
            continue
        language = pass_language(before, pair.before.index)
        stable = in_one_notation(old), in_one_notation(new)
        diff = DiffDocument.of(old, new, "values", language, stable=stable)
        if not diff.operations_added and not diff.operations_removed:
            return place, parting, texts
        parting, texts = pair, (diff, old, new)
    return -1, parting, texts


def _follows(pairs: list[PassPairDocument], place: int, pair: PassPairDocument) -> bool:
    """Return whether nothing changed the modules between the passes at two places."""
    return not any(_is_changed(each) for each in pairs[place + 1 : pairs.index(pair)])


def _of_stages(before: Record, after: Record, last: PassPairDocument | None) -> DivergenceDocument:
    """Return the first stage without equal passes whose text differs."""
    for name in before.result.stages:
        if name in after.result.stages:
            diff = stage_diff(before, after, name)
            if diff.operations_added or diff.operations_removed:
                old, new = (each.text(each.result.stages[name].text) for each in (before, after))
                return _document(last, None, name, diff, old, new, (name, name))
    return DivergenceDocument(last, None, None, 0, 0, 0, [], [], [])


def _document(
    last: PassPairDocument | None,
    first: PassPairDocument | None,
    stage: str,
    diff: DiffDocument,
    old: str,
    new: str,
    names: tuple[str, str],
) -> DivergenceDocument:
    moved_from = {move.before_line for move in diff.moves}
    moved_to = {move.after_line for move in diff.moves}
    removed = {line for kind in diff.kinds for line in kind.before_lines} - moved_from
    added = {line for kind in diff.kinds for line in kind.after_lines} - moved_to
    return DivergenceDocument(
        last_equal=last,
        first_different=first,
        stage=stage,
        operations_added=diff.operations_added,
        operations_removed=diff.operations_removed,
        operations_moved=diff.operations_moved,
        added=_lines(new, added),
        removed=_lines(old, removed),
        kinds=[
            KindCount(
                kind.name, len(set(kind.before_lines) - moved_from), len(set(kind.after_lines) - moved_to)
            )
            for kind in diff.kinds
        ],
        before_text=names[0],
        after_text=names[1],
    )


def _lines(text: str, numbers: set[int]) -> list[str]:
    lines = text.split("\n")
    meanings = alias_meanings([f"{line}\n" for line in lines])
    shown = (lines[number - 1].strip() for number in sorted(numbers)[:_MOST_LINES])
    return [with_meanings(line, meanings)[:_MOST_CHARACTERS] for line in shown]


def _is_alone(pair: PassPairDocument) -> bool:
    return pair.before is None or pair.after is None


def _is_changed(pair: PassPairDocument) -> bool:
    return any(side is not None and side.changed for side in (pair.before, pair.after))


def _find(subject: Subject) -> DivergenceDocument:
    return find_divergence(*subject.pair)


QUERY = Query(
    name="divergence",
    about="pair",
    path="/divergence",
    summary="Find the first compiler pass after which the modules of two compilations differ for good.",
    version=3,
    document=DivergenceDocument,
    find=_find,
    saved=nothing_saved,
)
