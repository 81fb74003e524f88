"""What passes, operations and instructions do, in a sentence or two each."""

from __future__ import annotations

from flask import Blueprint, Response

from explorer.errors import NotFound
from explorer.explanations import explanations, vocabularies
from explorer.views.http import json_response
from explorer.views.links import API
from explorer.views.operation import documented

blueprint = Blueprint("explanations", __name__, url_prefix=f"{API}/explanations")


@blueprint.get("/<vocabulary>")
@documented({200: dict[str, str]})
def show(vocabulary: str) -> Response:
    """The explanation of each word of a vocabulary: of each pass, of each operation of a language."""
    if vocabulary not in vocabularies():
        raise NotFound(f"There is no vocabulary {vocabulary!r}. There are: {', '.join(vocabularies())}.")
    return json_response(explanations(vocabulary))
