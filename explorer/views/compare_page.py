"""The page at `/compare/<id>..<id>`, and the preview of its link."""

from __future__ import annotations

from flask import Blueprint, render_template, url_for

from explorer.errors import NotFound
from explorer.model.hardware import find_target
from explorer.queries import comparison
from explorer.store import Record
from explorer.views.pages import bundle
from explorer.views.privacy import is_about_private
from explorer.views.records import stored_compilation
from explorer.views.visible import visible

blueprint = Blueprint("compare_page", __name__)

_MOST_DIFFERENCES = 4


@blueprint.get("/compare/<before_id>..<after_id>")
def page(before_id: str, after_id: str) -> tuple[str, int]:
    """Return the page for two compilations. The browser asks the API for their data."""
    status, preview = 200, None
    try:
        preview = preview_of(stored_compilation(before_id), stored_compilation(after_id))
    except NotFound:
        status = 404
    if is_about_private():
        preview = None
    if preview is not None:
        ids = {"before_id": before_id, "after_id": after_id}
        preview["url"] = url_for("compare_page.page", **ids, _external=True)
    html = render_template("compare.html", bundle=bundle, host="site", preview=preview)
    return html, status


def preview_of(before: Record, after: Record) -> dict[str, str]:
    """Return the preview of a comparison: the kernels, and the differences between the requests."""
    kernels = dict.fromkeys(record.kernel or "Kernel" for record in (before, after))
    title = f"{' and '.join(kernels)}, compared · triton·explorer"
    differences = [
        f"{each.name} {_words(each.name, each.before)} → {_words(each.name, each.after)}"
        for each in comparison.differences(before, after)
        if each.name != "kernel"
    ]
    more = len(differences) - _MOST_DIFFERENCES
    facts = differences[:_MOST_DIFFERENCES] + ([f"{more} more"] if more > 0 else [])
    if before.request.source != after.request.source:
        facts.append("different source")
    return {"title": visible(title), "description": visible(" · ".join(facts)) or "Equal requests"}


def _words(name: str, value: object) -> str:
    return find_target(str(value)).architecture if name == "target" else str(value)
