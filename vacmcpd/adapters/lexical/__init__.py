"""The embedded search: the query language and the scanner that every index is tested against."""
