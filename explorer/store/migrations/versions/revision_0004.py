"""Claims: who may delete a result."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table. Nobody can delete the results that exist: no token was given for them."""
    op.create_table(
        "claim",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("holder", sa.String(64), primary_key=True),
    )
