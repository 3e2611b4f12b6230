"""Column types: whatever a database makes of them, a value comes back as it went in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Enum, Text
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment, kept and given back in UTC; naive ones are refused with ValueError."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without its time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        del dialect
        if value is None:
            return None
        # SQLite stores no offset and gives back naive moments.
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Prose(TypeDecorator[str]):
    """Text that may quote anything: what no encoder takes (lone surrogates) is spelled out.

    A reason that can't be encoded must not be the reason why no reason is kept.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else value.encode("utf-8", "backslashreplace").decode("utf-8")


class Counts(TypeDecorator[dict[str, int]]):
    """How many, by reason; keys are kept in order, so that equal counts are equal text."""

    impl = JSON
    cache_ok = True

    def process_bind_param(
        self, value: Mapping[str, int] | None, dialect: Dialect
    ) -> dict[str, int] | None:
        del dialect
        return None if value is None else dict(sorted(value.items()))


def states(kind: type[StrEnum], constraint: str) -> Enum:
    """The members of ``kind`` as text that a CHECK named ``constraint`` bounds, no type."""

    def values(_: Any) -> list[str]:
        return [str(member) for member in kind]

    return Enum(
        kind,
        name=constraint,
        native_enum=False,
        create_constraint=True,
        validate_strings=True,
        values_callable=values,
        length=16,
    )
