"""The first tables. Databases that are older than revisions have some of them."""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the missing tables. Results whose usage is unknown count as opened at this moment."""
    op.create_table(
        "compilation",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("target", sa.String(64), nullable=False),
        sa.Column("triton", sa.String(64), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("is_final", sa.Boolean(), nullable=False),
        sa.Column("journal", sa.String(64)),
        if_not_exists=True,
    )
    op.create_table(
        "finding",
        sa.Column("journal", sa.String(64), primary_key=True),
        sa.Column("question", sa.String(64), primary_key=True),
        sa.Column("document", sa.String(64), nullable=False),
        if_not_exists=True,
    )
    op.create_table(
        "run",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("compilation", sa.String(64), nullable=False),
        if_not_exists=True,
    )
    op.create_index("ix_run_compilation", "run", ["compilation"], if_not_exists=True)
    op.create_table("live", sa.Column("id", sa.String(44), primary_key=True), if_not_exists=True)
    op.create_table(
        "usage",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("client", sa.String(64), nullable=False),
        sa.Column("used", sa.DateTime(timezone=True), nullable=False),
        sa.Column("request_bytes", sa.BigInteger(), nullable=False),
        sa.Column("result_bytes", sa.BigInteger(), nullable=False),
        sa.Column("pinned_by", sa.String(64)),
        if_not_exists=True,
    )
    op.create_index("ix_usage_client", "usage", ["client"], if_not_exists=True)
    op.create_index("ix_usage_pinned_by", "usage", ["pinned_by"], if_not_exists=True)
    add_usage = sa.text(
        "INSERT INTO usage (id, client, used, request_bytes, result_bytes) "
        "SELECT id, '', :now, length(request), 0 FROM compilation WHERE id NOT IN (SELECT id FROM usage)"
    ).bindparams(sa.bindparam("now", datetime.now(UTC), sa.DateTime(timezone=True)))
    op.execute(add_usage)
    op.drop_table("schema", if_exists=True)
