"""In-memory adapters of the ports and the demo repository, shipped for embedders and tests."""
