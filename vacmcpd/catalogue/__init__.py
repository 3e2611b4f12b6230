"""The catalogue: SQLAlchemy tables, sessions and the upgrade at open; the only SQL."""

from .sqlite import SqliteCatalogue

__all__ = ["SqliteCatalogue"]
