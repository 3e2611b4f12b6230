"""The lifecycle of repositories and contexts; it never answers a query."""
