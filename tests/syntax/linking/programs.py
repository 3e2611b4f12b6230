"""Random toy programs, and edits of them."""

import random
from typing import Any

from linking.toy import Program

PATHS = ("a.t", "b.t", "c.t", "d/e.t")
NAMES = ("f", "g", "h", "K", "L", "x", "y", "init", "call")
_INNER = (*NAMES, "self", "p", "q", "print")

Programs = dict[str, Program]


def programs(chance: random.Random) -> Programs:
    """A few files."""
    found = {path: program(chance) for path in PATHS if chance.random() < 0.9}
    return found or {PATHS[0]: program(chance)}


def program(chance: random.Random) -> Program:
    """The statements of one file."""
    return [_statement(chance) for _ in range(chance.randrange(7))]


def edited(files: Programs, chance: random.Random) -> Programs:
    """``files`` after one or two edits: a file gone, renamed, new, or a statement more or less."""
    files = dict(files)
    for _ in range(1 + chance.randrange(2)):
        kind, path = chance.random(), chance.choice(PATHS)
        if kind < 0.15 and len(files) > 1:
            files.pop(chance.choice(sorted(files)))
        elif kind < 0.3:
            files[path] = files.pop(chance.choice(sorted(files)))
        elif kind < 0.45 or path not in files:
            files[path] = program(chance)
        else:
            files[path] = _changed(files[path], chance)
    return files


def _changed(statements: Program, chance: random.Random) -> Program:
    statements = list(statements)
    if statements and chance.random() < 0.5:
        statements.pop(chance.randrange(len(statements)))
    else:
        statements.insert(chance.randrange(len(statements) + 1), _statement(chance))
    return statements


def _statement(chance: random.Random) -> Any:
    return chance.choice((_simple, _simple, _function, _function, _class))(chance)


def _function(chance: random.Random) -> Any:
    params = chance.sample(("p", "q"), chance.randrange(3))
    body = [_simple(chance) for _ in range(chance.randrange(5))]
    return ("def", chance.choice(NAMES), params, body)


def _property(chance: random.Random) -> Any:
    return ("property", chance.choice(NAMES), [_simple(chance) for _ in range(chance.randrange(3))])


def _class(chance: random.Random) -> Any:
    bases = [("name", chance.choice(NAMES)) for _ in range(chance.randrange(3))]
    kinds = (_function, _function, _simple, _property)
    body = [chance.choice(kinds)(chance) for _ in range(chance.randrange(5))]
    return ("class", chance.choice(NAMES), bases, body)


def _simple(chance: random.Random) -> Any:
    name = chance.choice(NAMES)
    return (
        ("bind", name, _expr(chance)),
        ("store", _expr(chance, 2), name, _expr(chance)),
        ("put", _expr(chance, 2), chance.choice((0, "f", None)), _expr(chance)),
        ("return", _expr(chance)),
        ("do", _expr(chance)),
        ("do", _expr(chance)),
        ("import", chance.choice(PATHS), chance.choice(("", *NAMES)), name),
    )[chance.randrange(7)]


def _expr(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if depth > 3 or kind < 0.4:
        return ("name", chance.choice(_INNER)) if chance.random() < 0.95 else ("text",)
    if kind < 0.6:
        return (
            chance.choice(("attr", "read")),
            _expr(chance, depth + 1),
            chance.choice(NAMES),
        )
    if kind < 0.9:
        return ("call", _expr(chance, depth + 1), _several(chance, depth, 0))
    if kind < 0.94:
        return ("list", _several(chance, depth, 0))
    if kind < 0.97:
        return ("item", _expr(chance, depth + 1), chance.choice((0, None)))
    return ("any", _several(chance, depth, 1))


def _several(chance: random.Random, depth: int, least: int) -> list[Any]:
    return [_expr(chance, depth + 1) for _ in range(least + chance.randrange(3 - least))]
