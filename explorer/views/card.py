"""The preview image of a permalink."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from flask import Blueprint, Response

from explorer.card import Look, draw_card
from explorer.documents import ApiLinks, CompilationDocument
from explorer.errors import NotFound
from explorer.services import services
from explorer.views.http import binary_part
from explorer.views.pages import bundled_file
from explorer.views.privacy import is_about_private
from explorer.views.records import find_compilation

blueprint = Blueprint("card", __name__)

_TOKENS = Path(__file__).parents[1] / "static/tokens.css"


@blueprint.get("/k/<compilation_id>/card.png")
def picture(compilation_id: str) -> Response:
    """Return the preview image of a stored result."""
    if is_about_private():
        raise NotFound("A private result has no preview image.")
    record = find_compilation(compilation_id)
    services().rates.count("exports")
    document = CompilationDocument.of(record, ApiLinks(record.id), {})
    response = binary_part(record, draw_card(document, page_look()), "image/png")
    # Other sites embed it in their pages.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response


@lru_cache(maxsize=1)
def page_look() -> Look:
    """Return the fonts and colors of the page."""
    faces = ("inter", "jetbrains-mono")
    sans, mono = (bundled_file(f"fonts/{face}-latin-wght-normal.woff2") for face in faces)
    return Look(sans, mono, _TOKENS.read_text(encoding="utf-8"))
