"""The script that Alembic runs to migrate the tables, with the connection of `explorer.store.migrations`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
