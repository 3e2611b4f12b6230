"""MCP over stdio and Streamable HTTP: a thin shell around finished engines."""
