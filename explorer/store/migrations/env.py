"""What Alembic runs to migrate the tables: the connection is that of `explorer.store.migrations`."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
