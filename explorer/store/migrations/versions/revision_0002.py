"""Leases of jobs, and the entries of jobs that are not finished."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "lease",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("owner", sa.String(32), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("leaving", sa.Text(), nullable=False),
    )
    op.create_table(
        "entry",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
    )
