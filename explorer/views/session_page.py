"""The page at `/s/<id>`: the kernels of a captured program, and the preview of its link."""

from __future__ import annotations

from flask import Blueprint, url_for

from explorer.documents.sessions import session_api, session_of
from explorer.errors import NotFound
from explorer.store import Collection
from explorer.views.pages import table_page
from explorer.views.privacy import is_about_private
from explorer.views.records import stored_session
from explorer.views.visible import visible

blueprint = Blueprint("session_page", __name__)


@blueprint.get("/s/<session_id>")
def page(session_id: str) -> tuple[str, int]:
    """Return the page of a session. The browser asks the API for its data."""
    status, preview = 200, None
    try:
        preview = preview_of(stored_session(session_id))
    except NotFound:
        status = 404
    if is_about_private():
        preview = None
    if preview is not None:
        preview["url"] = url_for("session_page.page", session_id=session_id, _external=True)
    return table_page("session", "the kernels", session_api(session_id), preview), status


def preview_of(stored: Collection) -> dict[str, str]:
    """Return the preview of a session: its title and how many kernels it has."""
    body = session_of(stored.content)
    count = len(body.kernels)
    return {
        "title": f"{visible(body.title) or 'Session'} · triton·explorer",
        "description": f"{count} captured kernel{'' if count == 1 else 's'}",
    }
