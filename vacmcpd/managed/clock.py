"""The time, as something that can be handed over."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Gives the time in UTC."""


def utc_now() -> datetime:
    """The wall clock in UTC."""
    return datetime.now(UTC)
