"""The glossary: a page, and a document for the terms that the main page marks."""

from __future__ import annotations

from itertools import groupby

from flask import Blueprint, Response, render_template

from explorer.documents import API
from explorer.glossary import Term, load_glossary
from explorer.views.http import json_response, let_server_keep
from explorer.views.operation import documented
from explorer.views.pages import bundle

blueprint = Blueprint("glossary", __name__)


@blueprint.get("/glossary")
def page() -> str:
    """Return the page with all terms. It works without scripts."""
    groups = [(group, list(terms)) for group, terms in groupby(load_glossary(), key=lambda term: term.group)]
    return render_template("glossary.html", bundle=bundle, host="site", preview=None, groups=groups)


@blueprint.get(f"{API}/glossary")
@documented({200: tuple[Term, ...]})
def show_all() -> Response:
    """Return all terms with their sources, and the steps of tours that use them."""
    return let_server_keep(json_response(load_glossary()))
