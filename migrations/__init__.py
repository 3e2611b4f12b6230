"""Schema migrations of the catalogue; installed as vacmcpd.migrations."""
