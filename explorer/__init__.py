"""Explore everything the Triton compiler does to a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from explorer.settings import Settings

__all__ = ["create_app"]


def create_app(settings: Settings | None = None) -> Flask:
    """Make the web application; without settings, those of the environment.

    `explorer.services.services_of(app).close()` ends what it has started.
    """
    from flask import Flask

    from explorer.services import Services
    from explorer.settings import Settings
    from explorer.views import register_views

    settings = settings or Settings.from_environment()
    app = Flask("explorer", static_folder=None)
    app.config["TRUSTED_HOSTS"] = settings.trusted_hosts
    Services(settings).attach(app)
    register_views(app)
    return app
