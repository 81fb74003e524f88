"""Converts the results of earlier versions to the form of this version."""

from __future__ import annotations

from dataclasses import replace

from explorer.model import Diagnostic, Done, Inspection
from explorer.store.entries import Entry

#: The beginning of the only error of a `torch.compile` program without a kernel. It was stored as failed.
_NO_KERNEL_ITSELF = "The source has no kernel itself."


def read_earlier(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return the journal of a program with `torch.compile` with its outcome; other journals unchanged."""
    done = entries[-1] if entries else None
    if not isinstance(done, Done) or done.status != "failed":
        return entries
    errors = [each for each in entries if isinstance(each, Diagnostic) and each.severity == "error"]
    has_output_code = any(isinstance(each, Inspection) and each.output_code is not None for each in entries)
    if not has_output_code or len(errors) != 1 or not errors[0].message.startswith(_NO_KERNEL_ITSELF):
        return entries
    note, found = replace(errors[0], severity="note"), replace(done, status="kernels_found")
    return tuple(note if each is errors[0] else found if each is done else each for each in entries)
