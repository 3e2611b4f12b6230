"""Locks between processes that share one data directory."""

from .files import FileLocks

__all__ = ["FileLocks"]
