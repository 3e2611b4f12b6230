"""Unit files; installed as vacmcpd.systemd."""
