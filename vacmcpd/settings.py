"""Settings: flag over ``VACMCP_…`` environment over ``settings.toml`` over default, all strict.

An unknown table, key or variable, a wrong type and a value out of range are refused, with the
file, the line, the key and what is allowed; nothing is ever taken for something near.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Literal

from .datadir import DataDirectory
from .errors import BuildCode, LifecycleError

Origin = Literal["default", "file", "environment", "flag"]

_PREFIX = "VACMCP_"
_OTHER_VARIABLES = frozenset({"VACMCP_DATA_DIR"})
_MAX_FILE_BYTES = 64 * 1024
_DAY = 86_400.0
_PORT = r"(?:[0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_ADDRESS = rf"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?):{_PORT}"


def _whole(default: int, minimum: int, maximum: int, about: str) -> Any:
    rule = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return field(default=default, metadata={"rule": rule, "about": about})


def _seconds(default: float, maximum: float, about: str) -> Any:
    rule = {"type": "number", "exclusiveMinimum": 0, "maximum": maximum}
    return field(default=default, metadata={"rule": rule, "about": about})


def _switch(default: bool, about: str) -> Any:
    return field(default=default, metadata={"rule": {"type": "boolean"}, "about": about})


def _text(default: str, pattern: str, about: str) -> Any:
    rule = {"type": "string", "pattern": f"^{pattern}$"}
    return field(default=default, metadata={"rule": rule, "about": about})


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """How much an answer or a file may be."""

    max_tokens: int = _whole(
        10_000, 1, 25_000, "tokens (a third of a UTF-8 byte each) of an answer unless asked for"
    )
    max_file_bytes: int = _whole(
        32 * 1024 * 1024, 1, 2**40, "bytes above which search counts a file as skipped"
    )


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Seconds after which an operation is answered with OPERATION_TIMEOUT."""

    resolve: float = _seconds(30.0, _DAY, "seconds to resolve a context")
    read: float = _seconds(30.0, _DAY, "seconds to read a file")
    diff: float = _seconds(30.0, _DAY, "seconds to compare a file")
    history: float = _seconds(120.0, _DAY, "seconds to walk one member's history")
    search: float = _seconds(30.0, _DAY, "seconds to search one member")
    trace: float = _seconds(120.0, _DAY, "seconds to trace calls")


@dataclass(frozen=True, slots=True)
class GitSettings:
    """What git may do."""

    network_timeout: float = _seconds(3600.0, 7 * _DAY, "seconds for one clone or fetch")
    allow_http: bool = _switch(False, "whether http may reach other machines than this one")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How the server listens and stops."""

    address: str = _text("127.0.0.1:8080", _ADDRESS, "host:port to listen on")
    workers: int = _whole(2, 1, 64, "worker processes that answer queries over HTTP")
    drain_seconds: float = _seconds(30.0, 600.0, "seconds that calls may finish in at a stop")


@dataclass(frozen=True, slots=True)
class LockSettings:
    """How long a command waits for another."""

    timeout: float = _seconds(600.0, 7 * _DAY, "seconds to wait for a repository's lock")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set, as it holds for one run."""

    limits: LimitSettings = field(default_factory=LimitSettings)
    budgets: BudgetSettings = field(default_factory=BudgetSettings)
    git: GitSettings = field(default_factory=GitSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    locks: LockSettings = field(default_factory=LockSettings)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings, and where each ``table.key`` came from."""

    settings: Settings
    origins: Mapping[str, Origin]


_TABLES: dict[str, type] = {
    "limits": LimitSettings,
    "budgets": BudgetSettings,
    "git": GitSettings,
    "server": ServerSettings,
    "locks": LockSettings,
}


def load(data: DataDirectory, environ: Mapping[str, str], overrides: Mapping[str, Any]) -> Loaded:
    """The settings of ``data``; ``overrides`` maps ``table.key`` to a flag's value.

    A missing file means the defaults. Raises INVALID_ARGUMENT naming where the fault is (file
    and line, variable or key) and what is allowed there.
    """
    found: dict[str, tuple[Any, Origin]] = {}
    found.update({key: (value, "file") for key, value in _from_file(data).items()})
    found.update({key: (value, "environment") for key, value in _from_environment(environ)})
    for key, value in overrides.items():
        found[key] = (_checked(key, value, f"flag for {key}", {}), "flag")
    origins: dict[str, Origin] = dict.fromkeys(_rules(), "default")
    origins.update({key: origin for key, (_, origin) in found.items()})
    return Loaded(_settings({key: value for key, (value, _) in found.items()}), origins)


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``settings.toml`` read as an object."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "vacmcp settings.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _table_schema(table) for name, table in _TABLES.items()},
    }


def values(settings: Settings) -> dict[str, Any]:
    """Every ``table.key`` with its value, in the order of the dataclasses."""
    return {
        f"{table}.{each.name}": getattr(getattr(settings, table), each.name)
        for table, kind in _TABLES.items()
        for each in fields(kind)
    }


def _table_schema(table: type) -> dict[str, Any]:
    return {
        "type": "object",
        "description": (table.__doc__ or "").strip(),
        "additionalProperties": False,
        "properties": {
            each.name: {
                **each.metadata["rule"],
                "default": each.default,
                "description": each.metadata["about"],
            }
            for each in fields(table)
        },
    }


def _rules() -> dict[str, Field[Any]]:
    return {
        f"{name}.{each.name}": each for name, table in _TABLES.items() for each in fields(table)
    }


def _settings(found: Mapping[str, Any]) -> Settings:
    return Settings(
        **{
            name: table(
                **{
                    each.name: found[f"{name}.{each.name}"]
                    for each in fields(table)
                    if f"{name}.{each.name}" in found
                }
            )
            for name, table in _TABLES.items()
        }
    )


def _from_file(data: DataDirectory) -> dict[str, Any]:
    name = data.settings.name
    text = _read(data)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _refused(f"{name} is not valid TOML: {error}", {"file": name}) from None
    except RecursionError:
        raise _refused(f"{name} is nested too deeply", {"file": name}) from None
    lines = _lines(text)
    found: dict[str, Any] = {}
    for table, content in document.items():
        where = {"file": name, "line": lines.get((table,), 1)}
        if table not in _TABLES:
            raise _unknown(f"table {table!r}", where, _TABLES)
        if not isinstance(content, dict):
            raise _refused(f"{_spot(where)}: {table!r} is a table of settings", where)
        for key, value in content.items():
            where = {"file": name, "line": lines.get((table, key), 1)}
            found[f"{table}.{key}"] = _checked(f"{table}.{key}", value, _spot(where), where)
    return found


def _read(data: DataDirectory) -> str:
    name = data.settings.name
    try:
        with data.settings.open("rb") as file:
            raw = file.read(_MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise _refused(f"{name} can't be read: {error.strerror}", {"file": name}) from None
    if len(raw) > _MAX_FILE_BYTES:
        raise _refused(f"{name} is larger than {_MAX_FILE_BYTES} bytes", {"file": name})
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        where = {"file": name, "line": line}
        raise _refused(f"{_spot(where)}: not UTF-8 text", where) from None


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each table and key first stands.

    tomllib tells no lines, so every statement is parsed by itself, below its table's header.
    """
    found: dict[tuple[str, ...], int] = {}
    header, statement, start = "", "", 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += line + "\n"
        is_header = statement.lstrip().startswith("[")
        try:
            parsed = tomllib.loads(statement if is_header else header + statement)
        except tomllib.TOMLDecodeError:
            continue  # the value goes on in the next line
        for path in _named(parsed):
            found.setdefault(path, start)
        header = statement if is_header else header
        statement, start = "", number + 1
    return found


def _named(parsed: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for table, content in parsed.items():
        yield (table,)
        if isinstance(content, dict):
            yield from ((table, key) for key in content)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    variables = {
        _PREFIX + key.replace(".", "_").upper(): (key, rule) for key, rule in _rules().items()
    }
    for name in sorted(environ):
        if not name.startswith(_PREFIX) or name in _OTHER_VARIABLES:
            continue
        where = {"variable": name}
        if name not in variables:
            raise _unknown(f"variable {name}", where, variables.keys() | _OTHER_VARIABLES)
        key, rule = variables[name]
        value = _parsed(environ[name], rule.metadata["rule"]["type"])
        yield key, _checked(key, value, name, where)


def _parsed(text: str, kind: str) -> Any:
    """The text of a variable as a value of ``kind``; the text itself when it is none."""
    if kind == "boolean":
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    read: Callable[[str], Any] | None = {"integer": int, "number": float}.get(kind)
    if read is None or not re.fullmatch(r"[+-]?[0-9.]{1,30}", text):
        return text
    try:
        return read(text)
    except ValueError:
        return text


def _checked(key: str, value: Any, spot: str, where: Mapping[str, Any]) -> Any:
    known = _rules()
    if key not in known:
        raise _unknown(f"setting {key!r}", {**where, "key": key}, known)
    rule = known[key].metadata["rule"]
    if not _accepts(rule, value):
        raise _refused(
            f"{spot}: {key} is {_allowed(rule)}, not {_shown(value)}", {**where, "key": key}
        )
    return {"integer": int, "number": float}.get(rule["type"], _as_it_is)(value)


def _as_it_is(value: Any) -> Any:
    return value


def _accepts(rule: Mapping[str, Any], value: Any) -> bool:
    kind = rule["type"]
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str) and re.fullmatch(rule["pattern"], value) is not None
    # bool is an int to Python, and no number to a reader of the file.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if kind == "integer" and value % 1:
        return False
    above = value > rule["exclusiveMinimum"] if kind == "number" else value >= rule["minimum"]
    return bool(above and value <= rule["maximum"])


def _allowed(rule: Mapping[str, Any]) -> str:
    match rule["type"]:
        case "boolean":
            return "true or false"
        case "integer":
            return f"a whole number from {rule['minimum']} to {rule['maximum']}"
        case "number":
            return f"a number above 0 and up to {rule['maximum']:g}"
        case _:
            return "host:port, the port from 0 to 65535"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _spot(where: Mapping[str, Any]) -> str:
    return f"{where['file']}, line {where['line']}"


def _unknown(what: str, where: Mapping[str, Any], known: Any) -> LifecycleError:
    spot = f"{_spot(where)}: " if "line" in where else ""
    return _refused(f"{spot}unknown {what}; known are {', '.join(sorted(known))}", where)


def _refused(message: str, details: Mapping[str, Any]) -> LifecycleError:
    return LifecycleError(BuildCode.INVALID_ARGUMENT, message, details)
