"""The seven queries, over ports and values only."""
