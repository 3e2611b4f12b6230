"""Locks between processes, by the operating system."""
