"""Runs migrations on the connection, and in the transaction, that the catalogue hands over."""

from alembic import context

from vacmcpd.catalogue.tables import Base

# SQLite can't alter most of a table, so a change to one is written as a batch: a new table that
# takes the old one's rows and place. Triggers of the old table go with it and are made again.
context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
