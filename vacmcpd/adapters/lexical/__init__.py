"""The embedded search: the query language and the scanner that every index is tested against."""

from .build import ScanBuilder
from .query import Query, parse
from .scan import ScanSearch

__all__ = ["Query", "ScanBuilder", "ScanSearch", "parse"]
