"""The command line; installed as vacmcpd.cli."""
