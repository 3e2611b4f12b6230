"""What users of other call graphs reported as wrong, and the right answer here.

The numbers are those of the reports' list in the design notes (graph engine, section 5).
"""

import pytest
from cases import Case, check
from versions import Versions, callers

from vacmcpd.errors import QueryError, WireCode
from vacmcpd.ports.graph import TRUSTED, Direction, EdgeKind

GO_MOD = "module ex.com/m\n\ngo 1.22\n"

CASES = (
    # 1: a bare call of an imported function, in a file of its own, has its caller.
    Case(
        "1 python",
        {
            "a.py": "def target(): pass\n",
            "b.py": "from a import target\ndef wrapper():\n    target()\n",
        },
        ("b.wrapper -> a.target [resolved] :3",),
        exact=True,
    ),
    Case(
        "1 javascript",
        {
            "a.js": "export function target() {}\n",
            "b.js": "import { target } from './a';\nfunction wrapper() {\n  target();\n}\n",
        },
        ("b:wrapper -> a:target [resolved] :3",),
        exact=True,
    ),
    Case(
        "1 java",
        {
            "p/A.java": "package p;\npublic class A { public static void target() {} }\n",
            "q/B.java": "package q;\nimport static p.A.target;\nclass B { void wrapper() {\n target(); } }\n",
        },
        ("q.B.wrapper -> p.A.target [resolved] :4",),
        exact=True,
    ),
    # 2: calls inside one file have all their callers.
    Case(
        "2 python",
        {"a.py": "def g(): pass\ndef f(): g()\ndef h(): g()\ng()\n"},
        ("a.f -> a.g", "a.h -> a.g", "a -> a.g"),
        exact=True,
    ),
    Case(
        "2 go",
        {"go.mod": GO_MOD, "a.go": "package m\nfunc g() {}\nfunc f() { g() }\nfunc h() { g() }\n"},
        ("ex.com/m.f -> ex.com/m.g", "ex.com/m.h -> ex.com/m.g"),
        exact=True,
    ),
    Case(
        "2 javascript",
        {"a.js": "function g() {}\nfunction f() { g(); }\nconst h = () => g();\ng();\n"},
        ("a:f -> a:g", "a:h -> a:g", "a -> a:g"),
        exact=True,
    ),
    # 4: a method of a type of the platform is not the function of its name.
    Case(
        "4 csharp",
        {
            "a.cs": """
                class Own { public static bool TryParse(string s, out int n) { n = 1; return true; } }
                class C { void F(string s) { int.TryParse(s, out var n); } }
            """
        },
        never=("* -> Own.TryParse",),
        exact=True,
    ),
    Case(
        "4 java",
        {
            "A.java": "class A { static int parseInt(String s) { return 1; }\n"
            " void f(String s) { Integer.parseInt(s); } }\n"
        },
        never=("* -> A.parseInt",),
        exact=True,
    ),
    Case(
        "4 go",
        {
            "go.mod": GO_MOD,
            "a.go": 'package m\nimport "strconv"\nfunc Atoi(s string) {}\n'
            'func f() { strconv.Atoi("1") }\n',
        },
        ("ex.com/m.f -> strconv.Atoi [external]",),
        never=("* -> ex.com/m.Atoi",),
        exact=True,
    ),
    Case(
        "4 python",
        {"a.py": "import json\ndef loads(s): pass\ndef f(): json.loads('1')\n"},
        ("a.f -> json.loads [external]",),
        never=("* -> a.loads",),
        exact=True,
    ),
    # 5: the caller is the innermost named function, not the file.
    Case(
        "5 python",
        {
            "a.py": "def g(): pass\nclass C:\n    def m(self):\n        def inner():\n            g()\n"
        },
        ("a.C.m.inner -> a.g",),
        exact=True,
    ),
    Case(
        "5 typescript",
        {"a.ts": "function g(): void {}\nclass C { m(): void { g(); } }\n"},
        ("a:C.m -> a:g",),
        exact=True,
    ),
    Case(
        "5 rust",
        {"a.rs": "fn g() {}\nstruct C;\nimpl C { fn m(&self) { g(); } }\n"},
        ("a::C::m -> a::g",),
        exact=True,
    ),
    # 7: a dot in the name of an imported file belongs to the name.
    Case(
        "7 typescript",
        {
            "foo.service.ts": "export class FooService { run(): void {} }\n",
            "main.ts": "import { FooService } from './foo.service';\nnew FooService().run();\n",
        },
        ("main -> foo.service:FooService.run",),
    ),
    Case(
        "7 javascript",
        {
            "lib/foo.util.js": "exports.run = function () {};\n",
            "main.js": "const { run } = require('./lib/foo.util');\nrun();\n",
        },
        ("main -> lib/foo.util:run",),
    ),
    # 8: a method of what was just constructed.
    Case(
        "8 python",
        {
            "a.py": "class Service:\n    def __init__(self, db): pass\n    def run(self): pass\n",
            "b.py": "from a import Service\ndef f(db):\n    Service(db).run()\n",
        },
        ("b.f -> a.Service.run", "b.f -> a.Service.__init__"),
        exact=True,
    ),
    Case(
        "8 typescript",
        {
            "a.ts": "class Service { constructor(db: any) {} run() {} }\nfunction f(db: any) { new Service(db).run(); }\n"
        },
        ("a:f -> a:Service.run",),
    ),
    Case(
        "8 java",
        {"S.java": "class S { S(int d) {} void run() {} static void f() { new S(1).run(); } }\n"},
        ("S.f -> S.run",),
    ),
    # 9: methods of one name are told apart by the receiver's declared type.
    Case(
        "9 java",
        {
            "A.java": "class A { void run() {} }\n",
            "B.java": "class B { void run() {} }\n",
            "C.java": "class C { void f(A a) { a.run(); } void g(B b) { b.run(); } }\n",
        },
        ("C.f -> A.run", "C.g -> B.run"),
        exact=True,
    ),
    Case(
        "9 typescript",
        {
            "a.ts": """
                class A { run() {} }
                class B { run() {} }
                function f(a: A) { a.run(); }
                function g(b: B) { b.run(); }
            """
        },
        ("a:f -> a:A.run", "a:g -> a:B.run"),
        exact=True,
    ),
    Case(
        "9 python",
        {
            "a.py": """
                class A:
                    def run(self): pass
                class B:
                    def run(self): pass
                def f(a: A): a.run()
                def g(b: B): b.run()
            """
        },
        ("a.f -> a.A.run", "a.g -> a.B.run"),
        exact=True,
    ),
    # 10: a wrapper of the name of what it calls calls that, not itself.
    Case(
        "10 rust",
        {
            "src/lib.rs": "mod raw;\npub fn open() { raw::open(); }\n",
            "src/raw.rs": "pub fn open() {}\n",
            "Cargo.toml": '[package]\nname = "k"\n',
        },
        ("k::open -> k::raw::open",),
        exact=True,
    ),
    Case(
        "10 python",
        {"raw.py": "def open(): pass\n", "a.py": "import raw\ndef open():\n    raw.open()\n"},
        ("a.open -> raw.open",),
        exact=True,
    ),
    Case(
        "10 go",
        {
            "go.mod": GO_MOD,
            "raw/raw.go": "package raw\nfunc Open() {}\n",
            "a.go": 'package m\nimport "ex.com/m/raw"\nfunc Open() { raw.Open() }\n',
        },
        ("ex.com/m.Open -> ex.com/m/raw.Open",),
        exact=True,
    ),
    # 12: callers in the same file do not hide those in others.
    Case(
        "12 python",
        {
            "a.py": "def g(): pass\ndef f(): g()\n",
            "b.py": "from a import g\ndef h(): g()\n",
            "c.py": "import a\ndef i(): a.g()\n",
        },
        ("a.f -> a.g", "b.h -> a.g", "c.i -> a.g"),
        exact=True,
    ),
    Case(
        "12 go",
        {
            "go.mod": GO_MOD,
            "a.go": "package m\nfunc g() {}\nfunc f() { g() }\n",
            "b.go": "package m\nfunc h() { g() }\n",
        },
        ("ex.com/m.f -> ex.com/m.g", "ex.com/m.h -> ex.com/m.g"),
        exact=True,
    ),
    Case(
        "12 javascript",
        {
            "a.js": "exports.g = g;\nfunction g() {}\nfunction f() { g(); }\n",
            "b.js": "const a = require('./a');\nfunction h() { a.g(); }\n",
        },
        ("a:f -> a:g", "b:h -> a:g"),
        exact=True,
    ),
    # 13: an own function named like a method of lists is called as itself, never by a list.
    Case(
        "13 python",
        {
            "a.py": "def append(x): pass\ndef f():\n    append(1)\ndef g():\n    [].append(1)\n    x = []\n    x.append(2)\n"
        },
        ("a.f -> a.append",),
        never=("a.g -> a.append",),
        exact=True,
    ),
    Case(
        "13 javascript",
        {
            "a.js": "function push(x) {}\nfunction f() { push(1); }\nfunction g() { [].push(1); const x = []; x.push(2); }\n"
        },
        ("a:f -> a:push",),
        never=("a:g -> a:push",),
        exact=True,
    ),
    Case(
        "13 ruby",
        {
            "a.rb": "def append(x); end\ndef f; append(1); end\ndef g; [].append(1); x = []; x.append(2); end\n"
        },
        ("f -> append",),
        never=("g -> append",),
        exact=True,
    ),
    # 16: a parameter's type says whose method is called.
    Case(
        "16 go",
        {
            "go.mod": GO_MOD,
            "a.go": "package m\ntype S struct{}\nfunc (s *S) Run() {}\ntype T struct{}\n"
            "func (t T) Run() {}\nfunc f(s *S) { s.Run() }\n",
        },
        ("ex.com/m.f -> ex.com/m.S.Run [resolved]",),
        exact=True,
    ),
    Case(
        "16 java",
        {
            "A.java": "class A { void run() {} }\nclass B { void run() {} void f(A a) { a.run(); } }\n"
        },
        ("B.f -> A.run [resolved]",),
        exact=True,
    ),
    Case(
        "16 python",
        {
            "a.py": "class S:\n    def run(self): pass\nclass T:\n    def run(self): pass\ndef f(s: 'S | None'):\n    s.run()\n"
        },
        ("a.f -> a.S.run [resolved]",),
        exact=True,
    ),
    # 17: a method of what is embedded or inherited.
    Case(
        "17 go",
        {
            "go.mod": GO_MOD,
            "a.go": "package m\ntype Inner struct{}\nfunc (i *Inner) Run() {}\n"
            "type Outer struct{ *Inner }\nfunc f(o Outer) { o.Run() }\n",
        },
        ("ex.com/m.f -> ex.com/m.Inner.Run [resolved]",),
        exact=True,
    ),
    Case(
        "17 python",
        {
            "a.py": "class Base:\n    def run(self): pass\nclass C(Base): pass\ndef f():\n    C().run()\n"
        },
        ("a.f -> a.Base.run [resolved]",),
    ),
    Case(
        "17 typescript",
        {
            "a.ts": "class Base { run() {} }\nclass C extends Base {}\nfunction f(c: C) { c.run(); }\n"
        },
        ("a:f -> a:Base.run [resolved]",),
        exact=True,
    ),
    # 18: a type that is re-exported at the top is the type.
    Case(
        "18 python",
        {
            "pkg/__init__.py": "from ._impl import Client\n",
            "pkg/_impl.py": "class Client:\n    def get(self): pass\n",
            "main.py": "import pkg\nfrom pkg import Client\ndef f():\n    pkg.Client().get()\n    Client().get()\n",
        },
        ("main.f -> pkg._impl.Client.get :4", "main.f -> pkg._impl.Client.get :5"),
    ),
    Case(
        "18 typescript",
        {
            "src/index.ts": "export { Client } from './impl';\nexport * from './more';\n",
            "src/impl.ts": "export class Client { get() {} }\n",
            "src/more.ts": "export function more() {}\n",
            "main.ts": "import { Client, more } from './src';\nfunction f(c: Client) { c.get(); more(); }\n",
        },
        ("main:f -> src/impl:Client.get", "main:f -> src/more:more"),
        exact=True,
    ),
    Case(
        "18 rust",
        {
            "src/lib.rs": "mod imp;\npub use imp::Client;\npub mod user;\n",
            "src/imp.rs": "pub struct Client;\nimpl Client { pub fn get(&self) {} }\n",
            "src/user.rs": "use crate::Client;\nfn f(c: Client) { c.get(); }\n",
            "Cargo.toml": '[package]\nname = "k"\n',
        },
        ("k::user::f -> k::imp::Client::get",),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_complaint(case: Case) -> None:
    check(case)


EDITED = {
    "python": (
        {"a.py": "def g():\n    pass\n", "b.py": "from a import g\ndef f():\n    g()\n"},
        {"a.py": "def g():\n    return 1\n"},
        "g",
        {("b.f", 3)},
    ),
    "javascript": (
        {
            "a.js": "exports.g = () => 1;\n",
            "b.js": "const { g } = require('./a');\nfunction f() {\n  g();\n}\n",
        },
        {"a.js": "exports.g = () => 2;\n"},
        "g",
        {("b:f", 3)},
    ),
    "go": (
        {
            "go.mod": GO_MOD,
            "a.go": "package m\nfunc G() {}\n",
            "b.go": "package m\nfunc f() {\n G()\n}\n",
        },
        {"a.go": "package m\nfunc G() { println(1) }\n"},
        "G",
        {("ex.com/m.f", 3)},
    ),
}


@pytest.mark.parametrize("language", EDITED)
def test_3_editing_the_callee_alone_keeps_its_callers(language: str) -> None:
    files, edit, symbol, expected = EDITED[language]
    versions, clean = Versions(), Versions()
    first = versions.build(files)
    second = versions.build({**files, **edit})
    assert callers(versions.trace(first, symbol)) == expected
    assert callers(versions.trace(second, symbol)) == expected
    assert versions.edges(second) == clean.edges(clean.build({**files, **edit}))


OVERRIDES = {
    "python": (
        {
            "a.py": "class Base:\n    def step(self): pass\ndef run(b: Base):\n    b.step()\n",
            "b.py": "x = 1\n",
        },
        {"b.py": "from a import Base\nclass New(Base):\n    def step(self): pass\n"},
        "b.New.step",
        "a.run",
    ),
    "java": (
        {
            "A.java": "class A { void step() {} static void run(A a) { a.step(); } }\n",
            "B.java": "class B {}\n",
        },
        {"B.java": "class B extends A { void step() {} }\n"},
        "B.step",
        "A.run",
    ),
    "typescript": (
        {
            "a.ts": "export class A { step() {} }\nexport function run(a: A) { a.step(); }\n",
            "b.ts": "export const x = 1;\n",
        },
        {"b.ts": "import { A } from './a';\nexport class B extends A { step() {} }\n"},
        "b:B.step",
        "a:run",
    ),
}


@pytest.mark.parametrize("language", OVERRIDES)
def test_19_a_new_override_elsewhere_is_reached_by_an_unchanged_caller(language: str) -> None:
    files, edit, symbol, caller = OVERRIDES[language]
    versions = Versions()
    versions.build(files)
    second = versions.build({**files, **edit})
    (edge,) = versions.trace(second, symbol).edges
    assert edge.kind is EdgeKind.DISPATCH
    assert edge.caller_symbol is not None
    assert edge.caller_symbol.qualified_name == caller


MIXED = {
    "a.py": "def g(): pass\ndef f():\n    g()\n    g()\nclass C:\n    def m(self): f()\n",
    "b.ts": "import { k } from './c';\nfunction h() {\n k();\n k();\n}\nclass D { m() { h(); } }\n",
    "c.ts": "export function k() {}\n",
    "go.mod": GO_MOD,
    "m.go": "package m\nfunc G() {}\nfunc F() {\n G()\n G()\n}\n",
}


def test_6_a_trace_has_the_edges_that_the_export_has() -> None:
    versions = Versions()
    revision = versions.build(MIXED)
    edges = versions.edges(revision, TRUSTED)
    assert len(edges) >= 8
    for edge in edges:
        callee, caller = edge.callee_symbol, edge.caller_symbol
        assert callee is not None
        assert caller is not None
        assert edge in versions.trace(revision, callee.qualified_name).edges
        forward = versions.trace(revision, caller.qualified_name, Direction.CALLEES)
        assert edge in forward.edges


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        ("a.g", {("a.f", 3), ("a.f", 4)}),
        ("c:k", {("b:h", 3), ("b:h", 4)}),
        ("ex.com/m.G", {("ex.com/m.F", 4), ("ex.com/m.F", 5)}),
    ],
)
def test_15_every_call_site_is_a_row(symbol: str, expected: set[tuple[str, int]]) -> None:
    versions = Versions()
    graph = versions.trace(versions.build(MIXED), symbol)
    assert callers(graph) == expected
    assert len(graph.edges) == 2


TIMERS = {
    "javascript": (
        {"a.js": "function g() {}\nfunction f() {\n  setTimeout(() => g(), 10);\n}\n"},
        "g",
        {("a:f", 3)},
    ),
    "python": (
        {
            "a.py": "import threading\ndef g(): pass\ndef f():\n    threading.Timer(1, lambda: g()).start()\n"
        },
        "g",
        {("a.f", 4)},
    ),
    "go": (
        {
            "go.mod": GO_MOD,
            "a.go": 'package m\nimport "time"\nfunc g() {}\nfunc f() {\n time.AfterFunc(1, func() { g() })\n}\n',
        },
        "g",
        {("ex.com/m.f", 5)},
    ),
}


@pytest.mark.parametrize("language", TIMERS)
def test_11_the_caller_in_a_callback_is_the_nearest_named_function(language: str) -> None:
    files, symbol, expected = TIMERS[language]
    versions = Versions()
    assert callers(versions.trace(versions.build(files), symbol)) == expected


@pytest.mark.parametrize("symbol", ["missing", "a.missing", "gg", "b:missing", "ex.com/m.Missing"])
def test_14_an_unknown_name_is_never_answered_for_another(symbol: str) -> None:
    versions = Versions()
    revision = versions.build(MIXED)
    with pytest.raises(QueryError) as raised:
        versions.trace(revision, symbol)
    assert raised.value.code is WireCode.SYMBOL_NOT_FOUND
    assert "near" in raised.value.details


NAMESAKES = {
    "python": {
        "a.py": "def g(): pass\n",
        "b.py": "def g(): pass\n",
        "c.py": "import a\ndef f(): a.g()\n",
    },
    "typescript": {"a.ts": "export function g() {}\n", "b.ts": "export function g() {}\n"},
    "rust": {"a.rs": "fn g() {}\n", "b.rs": "fn g() {}\n"},
}


@pytest.mark.parametrize("language", NAMESAKES)
def test_20_two_definitions_of_a_name_are_candidates(language: str) -> None:
    versions = Versions()
    revision = versions.build(NAMESAKES[language])
    with pytest.raises(QueryError) as raised:
        versions.trace(revision, "g")
    assert raised.value.code is WireCode.SYMBOL_AMBIGUOUS
    found = raised.value.details["candidates"]
    assert len(found) == 2
    for candidate in found:
        graph = versions.trace(revision, candidate["symbol"])
        assert graph.resolved is not None
        assert graph.resolved.path == candidate["path"]
