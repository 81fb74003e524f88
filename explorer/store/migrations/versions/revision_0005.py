"""Names, ends and last uses of API tokens, and an index of the submissions of an account."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns and the index. Existing tokens have no name and no end."""
    op.add_column("token", sa.Column("name", sa.String(50), nullable=False, server_default=""))
    op.add_column("token", sa.Column("expires", sa.DateTime(timezone=True)))
    op.add_column("token", sa.Column("used", sa.DateTime(timezone=True)))
    op.create_index("ix_claim_holder", "claim", ["holder"])
