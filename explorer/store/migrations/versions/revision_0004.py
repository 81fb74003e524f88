"""Claims: who may delete a result. The time that clients take on GPUs. API tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables. Existing results cannot be deleted: no token was given for them."""
    op.create_table(
        "claim",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("holder", sa.String(64), primary_key=True),
    )
    op.create_table(
        "gpu_time",
        sa.Column("client", sa.String(64), primary_key=True),
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("seconds", sa.Double(), nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("holder", sa.String(64), nullable=False, unique=True),
        sa.Column("account", sa.String(50), nullable=False),
        sa.Column("roles", sa.String(64), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
