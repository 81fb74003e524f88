"""Followers of the jobs that other processes do."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "follower",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("follower", sa.String(200), primary_key=True),
        sa.Column("server", sa.String(32), primary_key=True),
        sa.Column("expires", sa.Double(), nullable=False),
    )
