"""Explore everything the Triton compiler does to a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Flask

    from explorer.python import compile, show  # noqa: A004  the name that users call
    from explorer.services import Services
    from explorer.settings import Settings

__all__ = ["compile", "create_app", "show"]


def __getattr__(name: str) -> Any:
    """Import a public function at its first use, which keeps the import of other modules fast."""
    if name in ("compile", "show"):
        from explorer import python

        return getattr(python, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def create_app(settings: Settings | None = None, services: Services | None = None) -> Flask:
    """Make the web application. Without `settings`, it reads them from the environment.

    Without `services`, it starts them. `explorer.services.services_of(app).close()` ends them.
    """
    from flask import Flask

    from explorer.services import Services
    from explorer.settings import Settings
    from explorer.views import register_views
    from explorer.views.accounts import use_accounts

    settings = settings or Settings.from_environment()
    app = Flask("explorer", static_folder=None)
    app.config["TRUSTED_HOSTS"] = settings.trusted_hosts
    (services or Services(settings)).attach(app)
    use_accounts(app, settings)
    register_views(app)
    return app
