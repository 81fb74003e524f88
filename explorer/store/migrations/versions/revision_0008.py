"""Sessions and matrices, which were requests with a task of their own."""

import json

import sqlalchemy as sa
import zstandard
from alembic import op

from explorer.store.address import collection_digest
from explorer.store.blob_compression import compress, decompress

revision = "0008"
down_revision = "0007"

_KINDS = ("session", "matrix")


def upgrade() -> None:
    """Create the table, and move the sessions and matrices there. Their IDs stay."""
    collection = op.create_table(
        "collection",
        sa.Column("id", sa.String(44), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("private", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
    )
    compilation = sa.table(
        "compilation",
        sa.column("id", sa.String),
        sa.column("created", sa.DateTime(timezone=True)),
        sa.column("target", sa.String),
        sa.column("request", sa.LargeBinary),
    )
    usage = sa.table("usage", sa.column("id", sa.String), sa.column("result_bytes", sa.BigInteger))
    connection = op.get_bind()
    without_target = sa.select(compilation).where(compilation.c.target == "")
    for row in connection.execute(without_target).all():
        try:
            request = json.loads(decompress(row.request))
        except (zstandard.ZstdError, ValueError):  # a damaged row hinders no server
            continue
        if (kind := request.get("task")) not in _KINDS:
            continue
        content, private = request["source"].encode(), request.get("private", "")
        connection.execute(
            sa.insert(collection).values(
                id=row.id,
                digest=collection_digest(kind, private, content),
                kind=kind,
                private=private,
                content=compress(content),
                created=row.created,
            )
        )
        connection.execute(sa.delete(compilation).where(compilation.c.id == row.id))
        connection.execute(sa.update(usage).where(usage.c.id == row.id).values(result_bytes=0))
