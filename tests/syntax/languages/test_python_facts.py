"""Python files that were made to hurt, and how files are told to be Python."""

import pytest

from vacmcpd.adapters.syntax.deep import with_room
from vacmcpd.adapters.syntax.facts import encode
from vacmcpd.adapters.syntax.languages import known, language_of
from vacmcpd.adapters.syntax.parsing import parse
from vacmcpd.adapters.syntax.snapshot import graph_of, version_of

HOSTILE = {
    "brackets": b"(" * 5000 + b"f()" + b")" * 5000,
    "lists": b"x = " + b"[" * 5000 + b"f()" + b"]" * 5000,
    "chain of calls": b"x = a" + b".b()" * 5000,
    "operators": b"x = f()" + b" + f()" * 3000,
    "conditions": b"x = " + b"f() and " * 3000 + b"f()",
    "nested blocks": b"".join(b" " * n + b"if x:\n" for n in range(400)) + b" " * 400 + b"f()\n",
    "nested functions": b"".join(b" " * n + b"def f():\n" for n in range(400))
    + b" " * 400
    + b"f()",
    "branches": b"def g():\n" + b" if a:\n  x = f(x)\n" * 1500,
    "unfinished": b"def f(:\n  class (\n x = [1, f(\n",
    "not text": bytes(range(256)) * 40,
    "not UTF-8": b'x = "\xff\xfe"\ndef \xff\xfe(): f()\n',
    "hints": b"x: " + b"List[" * 2000 + b"int" + b"]" * 2000 + b" = 1",
    "quoted hint": b'def f(x: "' + b"[" * 2000 + b'"): pass',
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_source_gives_facts(name: str) -> None:
    graph_of({"a.py": HOSTILE[name]})


def test_errors_are_counted_and_what_is_around_them_is_kept() -> None:
    source = b"def f(): pass\n\ndef g():\n    f()\n\nx = = 1\n\ndef h():\n    f()\n"
    facts = with_room(lambda: parse(known()["python"], source))
    assert facts.errors > 0
    found = {(edge.caller, edge.callee) for edge in graph_of({"a.py": source})}
    assert {("g", "f"), ("h", "f")} <= found


def test_facts_are_the_same_bytes_every_time() -> None:
    source = (
        b"import a\n\ndef f(x=[1]):\n    for y in x:\n        y.m()\n    return {y for y in x}\n"
    )
    language = known()["python"]
    made = [with_room(lambda: encode(parse(language, source))) for _ in range(2)]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("path", "head", "name"),
    [
        ("a.py", b"", "python"),
        ("tool.pyw", b"", "python"),
        ("bin/tool", b"#!/usr/bin/env python3.11\n", "python"),
        ("bin/tool", b"#!/usr/bin/python\n", "python"),
    ],
)
def test_files_that_are_python(path: str, head: bytes, name: str) -> None:
    found = language_of(path, lambda: head)
    assert found is not None
    assert found.name == name


def test_stubs_are_not_read_beside_what_they_describe() -> None:
    assert language_of("pkg/mod.pyi", lambda: b"") is None


def test_a_module_is_named_from_its_root() -> None:
    module_name = known()["python"].rules.module_name
    files = {
        "setup.cfg": b"",
        "src/pkg/__init__.py": b"",
        "src/pkg/mod.py": b"",
        "tools/run.py": b"",
        "libs/one/pyproject.toml": b"",
        "libs/one/one/core.py": b"",
        "bin/tool": b"#!/usr/bin/env python\n",
    }
    tree = version_of(files).tree
    names = {path: module_name(tree, path, "") for path in files if path.endswith((".py", "tool"))}
    assert names == {
        "src/pkg/__init__.py": "pkg",
        "src/pkg/mod.py": "pkg.mod",
        "tools/run.py": "tools.run",
        "libs/one/one/core.py": "one.core",
        "bin/tool": "bin.tool",
    }
