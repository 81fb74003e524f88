"""Short explanations of passes, operations and instructions."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.documents import API
from explorer.errors import NotFound
from explorer.explanations import explanations, vocabularies
from explorer.views.http import json_response
from explorer.views.operation import documented

blueprint = Blueprint("explanations", __name__, url_prefix=f"{API}/explanations")


@blueprint.get("/<vocabulary>")
@documented({200: dict[str, str]})
def show(vocabulary: str) -> Response:
    """Return the explanations of a vocabulary, by word: of the passes, or of the operations of a language."""
    if vocabulary not in vocabularies():
        raise NotFound(f"There is no vocabulary {vocabulary!r}. Known are {', '.join(vocabularies())}.")
    return json_response(explanations(vocabulary))
