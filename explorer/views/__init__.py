"""Views: the pages, the API and the event stream, one blueprint in each file.

A view finds records, asks the services and returns documents; it computes nothing. To add a blueprint, add
a line to `BLUEPRINTS`.
"""

from __future__ import annotations

from flask import Flask

from explorer.views import (
    account_page,
    accounts,
    agents,
    captures,
    card,
    compare_page,
    compilations,
    events,
    exercises,
    explanations,
    glossary,
    inspect,
    matrices,
    meta,
    pages,
    passes,
    queries,
    results,
    runs,
    session_page,
    stages,
    tours,
    trials,
)
from explorer.views.caller import recognize_callers
from explorer.views.compression import compress
from explorer.views.privacy import protect_private
from explorer.views.problems import handle_errors
from explorer.views.request_ids import identify_requests
from explorer.views.security import secure

BLUEPRINTS = (
    pages.blueprint,
    card.blueprint,
    compare_page.blueprint,
    compilations.blueprint,
    events.blueprint,
    stages.blueprint,
    passes.blueprint,
    queries.blueprint,
    runs.blueprint,
    results.blueprint,
    captures.blueprint,
    session_page.blueprint,
    matrices.blueprint,
    trials.blueprint,
    inspect.blueprint,
    exercises.blueprint,
    explanations.blueprint,
    glossary.blueprint,
    tours.blueprint,
    meta.blueprint,
    agents.blueprint,
    accounts.blueprint,
    account_page.blueprint,
)


def register_views(app: Flask) -> None:
    """Register all views, and the functions that handle every response."""
    compress(app)
    protect_private(app)
    secure(app)
    handle_errors(app)
    recognize_callers(app)
    identify_requests(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
