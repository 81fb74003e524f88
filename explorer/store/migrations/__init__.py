"""Migrations of the tables by Alembic, from each revision in `versions` to the next.

A new revision is one more file in `versions`, and one more entry in `explorer.store.tables.REVISIONS`.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Migrate the tables to a revision, in the transaction of a connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
