"""Go across files: packages, modules, imports, and what is outside of the repository."""

import pytest
from cases import Case, check

MOD = "module example.com/m\n\ngo 1.22\n"


def _files(**files: str) -> dict[str, str]:
    named = {name.replace("__", "/") + ".go": text for name, text in files.items()}
    return {"go.mod": MOD, **named}


CASES = (
    Case(
        "functions of one file",
        _files(a="package m\nfunc f() { g() }\nfunc g() {}\n"),
        ("example.com/m.f -> example.com/m.g [resolved] :2",),
        exact=True,
    ),
    Case(
        "a package is several files",
        _files(a="package m\nfunc f() { g() }\n", b="package m\nfunc g() {}\n"),
        ("example.com/m.f -> example.com/m.g [resolved]",),
        exact=True,
    ),
    Case(
        "an imported package of the module",
        _files(
            a='package m\nimport "example.com/m/x/y"\nfunc f() { y.G() }\n',
            x__y__g="package y\nfunc G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/x/y.G [resolved]",),
        exact=True,
    ),
    Case(
        "an aliased import",
        _files(
            a='package m\nimport z "example.com/m/y"\nfunc f() { z.G() }\n',
            y__g="package y\nfunc G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/y.G",),
        exact=True,
    ),
    Case(
        "a dot import",
        _files(
            a='package m\nimport . "example.com/m/y"\nfunc f() { G() }\n',
            y__g="package y\nfunc G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/y.G",),
        exact=True,
    ),
    Case(
        "a blank import binds nothing",
        _files(
            a='package m\nimport _ "example.com/m/y"\nfunc f() { G() }\n',
            y__g="package y\nfunc G() {}\n",
        ),
        never=("* -> example.com/m/y.G",),
        exact=True,
    ),
    Case(
        "a package that is not called like its folder",
        _files(
            a='package m\nimport "example.com/m/lib"\nfunc f() { other.G() }\n',
            lib__g="package other\nfunc G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/lib.G",),
        exact=True,
    ),
    Case(
        "a version at the end of an import path",
        _files(
            a='package m\nimport "example.com/m/lib/v2"\nfunc f() { lib.G() }\n',
            lib__v2__g="package lib\nfunc G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/lib/v2.G",),
        exact=True,
    ),
    Case(
        "an internal package",
        _files(
            cmd__main='package main\nimport "example.com/m/internal/z"\nfunc main() { z.G() }\n',
            internal__z__z="package z\nfunc G() {}\n",
        ),
        ("example.com/m/cmd.main -> example.com/m/internal/z.G",),
        exact=True,
    ),
    Case(
        "a command keeps its import path and shares nothing with a package beside it",
        _files(
            a="package m\nfunc f() { g() }\nfunc g() {}\n",
            gen="//go:build ignore\n\npackage main\nfunc main() { g() }\nfunc g() {}\n",
        ),
        (
            "example.com/m.f -> example.com/m.g",
            "example.com/m.main -> example.com/m.g",
        ),
        exact=True,
    ),
    Case(
        "an external test is a package of its own",
        _files(
            a="package m\nfunc F() {}\nfunc h() {}\n",
            a_test='package m_test\nimport "example.com/m"\nfunc T() { m.F(); h() }\nfunc h() {}\n',
        ),
        (
            "example.com/m_test.T -> example.com/m.F",
            "example.com/m_test.T -> example.com/m_test.h",
        ),
        never=("* -> example.com/m.h",),
        exact=True,
    ),
    Case(
        "an internal test is in the package",
        _files(a="package m\nfunc f() {}\n", a_test="package m\nfunc T() { f() }\n"),
        ("example.com/m.T -> example.com/m.f",),
        exact=True,
    ),
    Case(
        "build constraints: every definition is a target",
        _files(
            a="package m\nfunc f() { g() }\n",
            g_linux="package m\nfunc g() { l() }\nfunc l() {}\n",
            g_windows="package m\nfunc g() { w() }\nfunc w() {}\n",
        ),
        (
            "example.com/m.f -> example.com/m.g",
            "example.com/m.g -> example.com/m.l",
            "example.com/m.g -> example.com/m.w",
        ),
        exact=True,
    ),
    Case(
        "a nested module has its own path",
        {
            "go.mod": MOD,
            "sub/go.mod": "module other.org/sub\n",
            "sub/a.go": "package sub\nfunc F() { g() }\nfunc g() {}\n",
            "b.go": 'package m\nimport "other.org/sub"\nfunc h() { sub.F() }\n',
        },
        (
            "other.org/sub.F -> other.org/sub.g",
            "example.com/m.h -> other.org/sub.F",
        ),
        exact=True,
    ),
    Case(
        "a local replacement",
        {
            "go.mod": MOD + "replace far.org/lib => ./third/lib\n",
            "third/lib/go.mod": "module near.org/lib\n",
            "third/lib/a.go": "package lib\nfunc F() {}\n",
            "b.go": 'package m\nimport "far.org/lib"\nfunc h() { lib.F() }\n',
        },
        ("example.com/m.h -> near.org/lib.F",),
        exact=True,
    ),
    Case(
        "modules of a workspace",
        {
            "go.work": "go 1.22\nuse (\n\t./a\n\t./b\n)\n",
            "a/go.mod": "module w.org/a\n",
            "b/go.mod": "module w.org/b\n",
            "a/a.go": 'package a\nimport "w.org/b/in"\nfunc F() { in.G() }\n',
            "b/in/b.go": "package in\nfunc G() {}\n",
        },
        ("w.org/a.F -> w.org/b/in.G",),
        exact=True,
    ),
    Case(
        "a vendored package comes before one outside",
        {
            "go.mod": MOD,
            "a.go": 'package m\nimport "far.org/lib"\nfunc f() { lib.G() }\n',
            "vendor/far.org/lib/g.go": "package lib\nfunc G() {}\n",
        },
        ("example.com/m.f -> far.org/lib.G",),
        exact=True,
    ),
    Case(
        "without go.mod a package is its folder",
        {"x/y/a.go": "package y\nfunc f() { g() }\nfunc g() {}\n"},
        ("x/y.f -> x/y.g",),
        exact=True,
    ),
    Case(
        "the standard library is outside",
        _files(a='package m\nimport "fmt"\nfunc f() { fmt.Println(1) }\nfunc Println() {}\n'),
        ("example.com/m.f -> fmt.Println [external]",),
        never=("* -> example.com/m.Println",),
        exact=True,
    ),
    Case(
        "methods of outside types are outside",
        _files(
            a="""
            package m
            import "strings"
            type T struct{}
            func (t T) WriteString(s string) {}
            func f() { var b strings.Builder; b.WriteString("x") }
            """
        ),
        ("example.com/m.f -> strings.Builder.WriteString [external]",),
        never=("* -> example.com/m.T.WriteString",),
        exact=True,
    ),
    Case(
        "builtins",
        _files(a="package m\nfunc f(x []int) { println(len(x)) }\n"),
        (
            "example.com/m.f -> <builtin>.len [external]",
            "example.com/m.f -> <builtin>.println [external]",
        ),
        exact=True,
    ),
    Case(
        "a function called like a builtin hides it",
        _files(a="package m\nfunc f() { max(1, 2) }\nfunc max(a, b int) int { return a }\n"),
        ("example.com/m.f -> example.com/m.max",),
        never=("* -> <builtin>.max",),
        exact=True,
    ),
    Case(
        "a conversion is not a call",
        _files(a="package m\ntype T int\nfunc f(x int) { _ = T(x); _ = string(rune(x)) }\n"),
        exact=True,
        never=("* -> example.com/m.T", "* -> <builtin>.string"),
    ),
    Case(
        "a local hides a package",
        _files(
            a="""
            package m
            import "example.com/m/y"
            type T struct{}
            func (t T) G() {}
            func f() { y.G() ; { y := T{}; y.G() } }
            """,
            y__g="package y\nfunc G() {}\n",
        ),
        (
            "example.com/m.f -> example.com/m/y.G :6",
            "example.com/m.f -> example.com/m.T.G :6",
        ),
        exact=True,
    ),
    Case(
        "a local hides a function only in its block",
        _files(
            a="""
            package m
            func g() {}
            func h() {}
            func f() { if g := h; true { g() } ; g() }
            func k() { if g := h; true { g() } }
            """
        ),
        (
            "example.com/m.f -> example.com/m.g",
            "example.com/m.f -> example.com/m.h",
            "example.com/m.k -> example.com/m.h",
        ),
        exact=True,
    ),
    Case(
        "a parameter called like the package of another one's type",
        _files(
            a='package m\nimport "example.com/m/y"\nfunc f(y int, z *y.T) (t y.T) { z.G(); return }\n',
            y__g="package y\ntype T struct{}\nfunc (t *T) G() {}\n",
        ),
        ("example.com/m.f -> example.com/m/y.T.G",),
        exact=True,
    ),
    Case(
        "several init functions, and what initialises variables",
        _files(
            a="""
            package m
            var x = g()
            func init() { a() }
            func init() { b() }
            func a() {}
            func b() {}
            func g() int { return 1 }
            """
        ),
        (
            "example.com/m -> example.com/m.g",
            "example.com/m.init -> example.com/m.a",
            "example.com/m.init -> example.com/m.b",
        ),
        exact=True,
    ),
    Case(
        "broken source keeps what is sane",
        _files(
            a="package m\nfunc f() { g() }\nfunc k() { x := := 1; g() }\nfunc g() {}\nfunc broken( {"
        ),
        ("example.com/m.f -> example.com/m.g", "example.com/m.k -> example.com/m.g"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_go_packages(case: Case) -> None:
    check(case)
