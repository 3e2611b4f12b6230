"""Languages of the by-name tier: their symbols, and the names that their call sites carry."""

import re
from textwrap import dedent

import pytest

from vacmcpd.adapters.syntax.languages import by_name, language_of
from vacmcpd.adapters.syntax.linking.link import link
from vacmcpd.adapters.syntax.linking.records import REASONS
from vacmcpd.adapters.syntax.parsing import parse
from vacmcpd.adapters.syntax.snapshot import graph_of, version_of

SOURCES = {
    "a.kt": (
        """
        package a.b
        class A(x: Int) : B(1) {
            fun m(): Int {
                foo(1)
                this.bar()
                return A(2).m()
            }
            constructor() : this(1) { init() }
        }
        fun A.ext() = q.baz { it.x() }
        """,
        {"A", "A.m", "A.constructor", "ext"},
        {("a", "B", 3), ("A.m", "foo", 5), ("A.m", "bar", 6), ("A.m", "A", 7), ("A.m", "m", 7),
         ("A.constructor", "init", 9), ("ext", "baz", 11), ("ext", "x", 11)},
    ),
    "a.swift": (
        """
        class A: B {
            init(x: Int) { super.init(); foo(x: 1) }
            func m() -> Int { self.bar(); return A(x: 2).m() }
            deinit { close() }
        }
        extension A { func ext() { q.baz { $0.x() } } }
        protocol P { func p() }
        func top() { print("x") }
        """,
        {"A", "A.init", "A.m", "A.deinit", "A.ext", "P", "P.p", "top"},
        {("A.init", "init", 3), ("A.init", "foo", 3), ("A.m", "bar", 4), ("A.m", "A", 4),
         ("A.m", "m", 4), ("A.deinit", "close", 5), ("A.ext", "baz", 7), ("A.ext", "x", 7),
         ("top", "print", 9)},
    ),
    "a.scala": (
        """
        class A(x: Int) extends B(1) {
          def m(): Int = { foo(1); this.bar(); new C(2).m(); run[Int](x) }
        }
        object O { def main(): Unit = q.map(y => y.z()) }
        trait T { def t: Int }
        """,
        {"A", "A.m", "O", "O.main", "T", "T.t"},
        {("A.m", "foo", 3), ("A.m", "bar", 3), ("A.m", "C", 3), ("A.m", "m", 3),
         ("A.m", "run", 3), ("O.main", "map", 5), ("O.main", "z", 5)},
    ),
    "a.sh": (
        """
        foo() {
            bar "$x"
            echo $(baz 1) | grep y
        }
        "$command" z
        foo
        """,
        {"foo"},
        {("foo", "bar", 3), ("foo", "echo", 4), ("foo", "baz", 4), ("foo", "grep", 4),
         ("a", "foo", 7)},
    ),
    "a.lua": (
        """
        local function f(a) g(a) end
        function M.h(x) return x:y(1) end
        function M:k() self.z() end
        """,
        {"f", "h", "k"},
        {("f", "g", 2), ("h", "y", 3), ("k", "z", 4)},
    ),
    "a.cpp": (
        """
        namespace n {
        class A : public B {
        public:
            A(int x) : b(f(x)) {}
            int m() const { return g<int>(1) + this->h() + p->q(); }
        };
        }
        int n::A::out(int z) { auto l = [&] { k(); }; std::move(z); return new A(2); }
        template <typename T> T *tp(T t) { return t.go(); }
        struct S used;
        """,
        {"n", "n.A", "n.A.A", "n.A.m", "out", "tp"},
        {
            ("n.A.A", "f", 5),
            ("n.A.m", "g", 6),
            ("n.A.m", "h", 6),
            ("n.A.m", "q", 6),
            ("out", "k", 9),
            ("out", "move", 9),
            ("out", "A", 9),
            ("tp", "go", 10),
        },
    ),
    "a.cs": (
        """
        namespace A.B {
            class C : D {
                public C(int x) : base(x) { F(); }
                int M(int a) { this.G(); var q = new E(1); return q.H<int>(a)?.I(); }
                int P { get { return K(); } }
            }
            interface IX { void Z(); }
        }
        """,
        {"B", "B.C", "B.C.C", "B.C.M", "B.C.P", "B.IX", "B.IX.Z"},
        {
            ("B.C.C", "F", 4),
            ("B.C.M", "G", 5),
            ("B.C.M", "E", 5),
            ("B.C.M", "H", 5),
            ("B.C.M", "I", 5),
            ("B.C.P", "K", 6),
        },
    ),
    "a.zig": ("fn f(x: u8) void { g(x); a.b(); }\n", {"f"}, {("f", "g", 1), ("f", "b", 1)}),
    "a.groovy": (
        "class A {\n def m() {\n  foo(1)\n  this.bar()\n  new B()\n }\n}\n",
        {"A", "A.m"},
        {("A.m", "foo", 3), ("A.m", "bar", 4), ("A.m", "B", 5)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES)
def test_symbols_and_the_names_that_are_called(path: str) -> None:
    text, symbols, sites = SOURCES[path]
    version = version_of({path: dedent(text).encode()})
    edges = link(version).records[path].edges
    unit = version.unit(path)
    assert unit is not None
    quals = {_plain(made.qual) for made in unit.declarations[1:]}
    assert quals == symbols
    found = zip(edges.open_caller, edges.open_name, edges.open_line, strict=True)
    told = {
        (_plain(unit.declarations[caller].qual) or "a", edges.names[name], line)
        for caller, name, line in found
    }
    assert told == sites
    assert {REASONS[reason] for reason in edges.open_reason} <= {"unknown name"}
    assert facts_errors(path, text) == 0


def _plain(qual: str) -> str:
    return re.sub(r"#\d+", "", qual)


def facts_errors(path: str, text: str) -> int:
    language = language_of(path, lambda: b"")
    assert language is not None
    return parse(language, dedent(text).encode()).errors


def test_nothing_resolves_by_name_alone() -> None:
    files = {"a.sh": b"f() { g; }\ng() { f; }\n", "b.lua": b"function g() f() end\n"}
    assert graph_of(files) == []


def test_a_broken_file_keeps_what_can_be_read() -> None:
    language = language_of("a.lua", lambda: b"")
    assert language is not None
    facts = parse(language, b"function h() k() end\nfunction f( g( end\n")
    assert facts.errors
    assert "h" in {scope.name for scope in facts.scopes}


def test_a_script_without_an_extension_is_told_by_its_first_line() -> None:
    found = language_of("bin/run", lambda: b"#!/usr/bin/env -S bash\nf\n")
    assert found is not None
    assert found.name == "bash"
    assert language_of("bin/run", lambda: b"#!/opt/thing\n") is None
    assert found in by_name.LANGUAGES
