"""What the outside sees: pages, API, event stream. One blueprint a file; a new one is a line here."""

from __future__ import annotations

from flask import Flask

from explorer.views import (
    analyses,
    card,
    compare,
    compare_page,
    compilations,
    events,
    explanations,
    inspect,
    meta,
    pages,
    passes,
    run_analyses,
    runs,
    stages,
)
from explorer.views.compression import compress
from explorer.views.problems import handle_errors
from explorer.views.security import secure

BLUEPRINTS = (
    pages.blueprint,
    card.blueprint,
    compare_page.blueprint,
    compilations.blueprint,
    compare.blueprint,
    events.blueprint,
    stages.blueprint,
    passes.blueprint,
    analyses.blueprint,
    runs.blueprint,
    run_analyses.blueprint,
    inspect.blueprint,
    explanations.blueprint,
    meta.blueprint,
)


def register_views(app: Flask) -> None:
    """Add all views, and what happens to every answer."""
    compress(app)
    secure(app)
    handle_errors(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
