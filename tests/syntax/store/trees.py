"""Random small trees of Python, JavaScript and Go, and edits of them."""

import random

PATHS = {
    "python": ("pkg/__init__.py", "pkg/a.py", "pkg/b.py", "pkg/sub/__init__.py", "c.py"),
    "javascript": ("a.js", "b.js", "lib/index.js", "lib/c.js", "package.json"),
    "go": ("go.mod", "a.go", "b.go", "inner/c.go", "inner/d.go"),
}
NAMES = ("f", "g", "Base", "Leaf", "run", "x")


def tree(chance):
    """Files of one or two languages, by path."""
    languages = chance.sample(sorted(PATHS), chance.choice((1, 1, 2)))
    files = {}
    for language in languages:
        for path in PATHS[language]:
            if chance.random() < 0.85:
                files[path] = content(path, chance)
    return files


def edited(files, chance):
    """``files`` after some edits: a file new, gone, renamed, written anew, moved by a line."""
    files = dict(files)
    known = [path for paths in PATHS.values() for path in paths]
    for _ in range(chance.choice((1, 1, 2, 3))):
        kind = chance.random()
        path = chance.choice(sorted(files) or known)
        if kind < 0.2 and files:
            del files[path]
        elif kind < 0.35 and path in files:
            chosen = chance.choice(known)
            if chosen.rpartition(".")[2] == path.rpartition(".")[2]:
                files[chosen] = files.pop(path)
        elif kind < 0.5 and path in files:
            files[path] = files[path] + b"\n"
        elif kind < 0.6 and path in files and not path.endswith((".json", ".mod")):
            files[path] = b"\n" + files[path]
        else:
            chosen = chance.choice(known)
            files[chosen] = content(chosen, chance)
    return files


def content(path, chance):
    """Something that a file of that path may say."""
    if path.endswith(".py"):
        return _python(chance)
    if path.endswith(".js"):
        return _javascript(chance)
    if path == "go.mod":
        return b"module example.org/%s\n" % chance.choice((b"m", b"n"))
    if path == "package.json":
        return b'{"main": "%s"}\n' % chance.choice((b"a.js", b"lib/c.js"))
    return _go(path, chance)


def _lines(chance, kinds, most=9):
    return "\n".join(chance.choice(kinds)(chance) for _ in range(chance.randrange(2, most))) + "\n"


def _name(chance):
    return chance.choice(NAMES)


def _python(chance):
    modules = ("pkg.a", "pkg", "pkg.b", "pkg.sub", "c", "os", ".", ".a", "..a", ".b")

    def expression(c):
        return c.choice(
            (
                f"{_name(c)}()",
                f"{_name(c)}({_name(c)})",
                f"{_name(c)}().{_name(c)}()",
                f"{_name(c)}.{_name(c)}()",
                f"[{_name(c)} for x in {_name(c)}]",
                f"(lambda y: y())({_name(c)})",
                f"{{'k': {_name(c)}}}['k']()",
                f"len({_name(c)}())",
                "super().run()",
            )
        )

    def function(c):
        return f"def {_name(c)}(x={_name(c)}):\n    {expression(c)}\n    return {expression(c)}\n"

    def cls(c):
        return (
            f"class {_name(c)}({_name(c)}):\n    def __init__(self, x):\n        self.x = x\n"
            f"    def {_name(c)}(self):\n        return self.x.{_name(c)}()\n"
            f"    def {_name(c)}(self, g):\n        return self.{_name(c)}() or g()\n"
        )

    kinds = (
        lambda c: f"from {c.choice(modules)} import {_name(c)}",
        lambda c: f"from {c.choice(modules)} import *",
        lambda c: f"import {c.choice(modules[:6])}",
        lambda c: f"{_name(c)} = {expression(c)}",
        lambda c: f"{_name(c)}.{_name(c)} = {_name(c)}",
        function,
        function,
        cls,
        expression,
    )
    return _lines(chance, kinds).encode()


def _javascript(chance):
    modules = ("./a", "./b.js", "./lib", "./c", "../a", "../lib/c.js", "fs")

    def expression(c):
        return c.choice(
            (
                f"{_name(c)}()",
                f"new {_name(c)}({_name(c)}).{_name(c)}()",
                f"{_name(c)}({_name(c)})",
                f"[1].map(y => {_name(c)}(y))",
                f"{_name(c)}.{_name(c)}({_name(c)})",
            )
        )

    kinds = (
        lambda c: f"import {{ {_name(c)} }} from '{c.choice(modules)}';",
        lambda c: f"export * from '{c.choice(modules)}';",
        lambda c: f"const {_name(c)} = require('{c.choice(modules)}');",
        lambda c: f"export function {_name(c)}(g, x) {{ {expression(c)}; return x; }}",
        lambda c: f"module.exports.{_name(c)} = {_name(c)};",
        lambda c: (
            f"export class {_name(c)} extends {_name(c)} {{ constructor(x) {{ super(); this.x = x;"
            f" }} {_name(c)}() {{ return this.{_name(c)}(); }} }}"
        ),
        lambda c: f"{expression(c)};",
    )
    return _lines(chance, kinds).encode()


def _go(path, chance):
    package = "inner" if path.startswith("inner/") else "main"
    imports = ('import "fmt"', 'import "example.org/m/inner"', 'import i "example.org/n/inner"')

    def expression(c):
        return c.choice(
            (
                f"{_name(c)}()",
                f"inner.{_name(c).title()}()",
                f"fmt.Println({_name(c)})",
                f"{_name(c)}.{_name(c)}()",
            )
        )

    kinds = (
        lambda c: f"func {_name(c)}(x {_name(c)}) {{ {expression(c)}; x.{_name(c)}() }}",
        lambda c: f"func {_name(c).title()}() {_name(c)} {{ return {expression(c)} }}",
        lambda c: f"type {_name(c)} struct {{ {_name(c)}; x {_name(c)} }}",
        lambda c: f"type {_name(c)} interface {{ {_name(c)}() }}",
        lambda c: f"func (r *{_name(c)}) {_name(c)}() {{ r.x.{_name(c)}() }}",
        lambda c: f"var {_name(c)} = {expression(c)}",
    )
    head = f"package {package}\n" + (chance.choice(imports) + "\n" if chance.random() < 0.5 else "")
    return (head + _lines(chance, kinds)).encode()


def history(seed, steps):
    """A tree and its edits, one after the other."""
    chance = random.Random(seed)
    files = tree(chance)
    yield files
    for _ in range(steps):
        files = edited(files, chance)
        yield files
