"""Jobs that workers do, the turns of clients, and the processes that use the database."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "job",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("queue", sa.String(128), nullable=False),
        sa.Column("client", sa.String(64), nullable=False),
        sa.Column("urgency", sa.Integer(), nullable=False),
        sa.Column("submitted", sa.Double(), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
        sa.Column("traceparent", sa.String(64), nullable=False),
    )
    op.create_index(op.f("ix_job_queue"), "job", ["queue"])
    op.create_table(
        "turn",
        sa.Column("client", sa.String(64), primary_key=True),
        sa.Column("taken", sa.Double(), nullable=False),
    )
    op.create_table(
        "process",
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("is_worker", sa.Boolean(), nullable=False),
        sa.Column("location", sa.String(512), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("seen", sa.Double(), nullable=False),
    )
