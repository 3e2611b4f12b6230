"""Checks a tool's arguments, so that every refusal arrives as INVALID_ARGUMENT in the envelope."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ..errors import QueryError, invalid_argument
from .wire import is_clean, shown

MAX_INTEGER = 2**53
"""Above this, JSON readers that use doubles no longer see the same number."""

MAX_STRING = 32_768
"""Characters in one argument; the longest useful ones are cursors and regular expressions."""

MAX_ITEMS = 32
"""Entries in one list of words."""

Value = str | int | tuple[str, ...]


class Kind(StrEnum):
    """The JSON type of an argument."""

    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    ARRAY = "array"
    """Of strings; the choices are those of its entries."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool, as its schema shows it.

    ``choices`` are the values that the query takes, for the schema alone: it refuses others.
    """

    name: str
    kind: Kind
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """``{type, description, enum?}``, or ``{type, description, items}``."""
        schema: dict[str, Any] = {"type": str(self.kind), "description": self.description}
        chosen = {"enum": list(self.choices)} if self.choices else {}
        if self.kind is Kind.ARRAY:
            return {**schema, "items": {"type": "string", **chosen}}
        return {**schema, **chosen}


def check(tool: str, arguments: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Value]:
    """The values to build a request from; what was not given is ``""``, 0, false or ``()``.

    Raises INVALID_ARGUMENT with details ``argument`` and what was wrong with it.
    """
    known = {argument.name for argument in arguments}
    for name in given:
        if name not in known:
            raise _unknown(tool, name, known)
    for argument in arguments:
        if argument.required and argument.name not in given:
            raise invalid_argument(
                f"{tool}: argument {argument.name} is required", argument=argument.name
            )
    return {argument.name: _value(tool, argument, given) for argument in arguments}


def _unknown(tool: str, name: str, known: set[str]) -> QueryError:
    accepted = ", ".join(sorted(known)) or "none"
    return invalid_argument(
        f"{tool}: there is no argument {shown(name)!r}; it takes {accepted}",
        argument=shown(name),
        accepted=sorted(known),
    )


def _value(tool: str, argument: Argument, given: Mapping[str, Any]) -> Value:
    if argument.name not in given:
        return _ABSENT[argument.kind]
    return _READERS[argument.kind](tool, argument, given[argument.name])


def _string(tool: str, argument: Argument, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong_type(tool, argument, value)
    if len(value) > MAX_STRING:
        raise invalid_argument(
            f"{tool}: {argument.name} has {len(value)} characters, at most {MAX_STRING} are read",
            argument=argument.name,
            length=len(value),
            limit=MAX_STRING,
        )
    if "\0" in value:
        raise invalid_argument(
            f"{tool}: {argument.name} holds a NUL character", argument=argument.name
        )
    if not is_clean(value):
        raise invalid_argument(
            f"{tool}: {argument.name} is not valid Unicode text", argument=argument.name
        )
    return value


def _integer(tool: str, argument: Argument, value: Any) -> int:
    # bool is an int to Python and 1.0 is an integer to JSON.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong_type(tool, argument, value)
    if isinstance(value, float) and not value.is_integer():
        raise _wrong_type(tool, argument, value)
    if abs(value) > MAX_INTEGER:
        raise invalid_argument(
            f"{tool}: {argument.name} is too large a number, at most {MAX_INTEGER} is read",
            argument=argument.name,
            limit=MAX_INTEGER,
        )
    return int(value)


def _boolean(tool: str, argument: Argument, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong_type(tool, argument, value)
    return value


def _array(tool: str, argument: Argument, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong_type(tool, argument, value)
    if len(value) > MAX_ITEMS:
        raise invalid_argument(
            f"{tool}: {argument.name} has {len(value)} entries, at most {MAX_ITEMS} are read",
            argument=argument.name,
            length=len(value),
            limit=MAX_ITEMS,
        )
    return tuple(
        _string(tool, replace(argument, name=f"{argument.name}[{at}]", kind=Kind.STRING), each)
        for at, each in enumerate(value)
    )


_ABSENT: Mapping[Kind, Value] = {
    Kind.STRING: "",
    Kind.INTEGER: 0,
    Kind.BOOLEAN: False,
    Kind.ARRAY: (),
}
_READERS: Mapping[Kind, Callable[[str, Argument, Any], Value]] = {
    Kind.STRING: _string,
    Kind.INTEGER: _integer,
    Kind.BOOLEAN: _boolean,
    Kind.ARRAY: _array,
}


def _wrong_type(tool: str, argument: Argument, value: Any) -> QueryError:
    actual = _json_type(value)
    return invalid_argument(
        f"{tool}: {argument.name} is a JSON {actual}, not a JSON {argument.kind}",
        argument=argument.name,
        expected=str(argument.kind),
        actual=actual,
    )


def _json_type(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"
