"""The numbers of lines that a diff adds and removes."""

from explorer.analysis.diff import Alignment


def count_changes(before, after, renaming="values"):
    changed = [span for span in Alignment(before, after, renaming).spans if not span.same]
    return sum(len(span.after) for span in changed), sum(len(span.before) for span in changed)
