"""Why the results of jobs could not be stored."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "failure",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
    )
