"""C: what its calls resolve to, and what they must not."""

import pytest
from cases import Case, check

from vacmcpd.adapters.syntax.snapshot import graph_of

OPS = "struct ops { int (*open)(int); int (*close)(void); };\n"

CASES = (
    Case(
        "a function of the file",
        {"a.c": "int g(void) { return 1; }\nint f(void) { return g(); }\n"},
        ("f -> g [resolved] :2",),
        exact=True,
    ),
    Case(
        "external linkage through a header",
        {
            "src/a.c": '#include "g.h"\nint f(void) { return g(); }\n',
            "src/g.h": "int g(void);\n",
            "src/sub/g.c": "int g(void) { return 1; }\n",
        },
        ("f -> g [resolved] :2",),
        exact=True,
    ),
    Case(
        "a prototype in the file itself",
        {
            "a/a.c": "extern int g(void);\nint f(void) { return g(); }\n",
            "b/g.c": "int g(void) { return 1; }\n",
        },
        ("f -> g [resolved]",),
        exact=True,
    ),
    Case(
        "a prototype in a function",
        {
            "a/a.c": "int f(void) { int g(void); return g(); }\n",
            "b/g.c": "int g(void) { return 1; }\n",
        },
        ("f -> g [resolved]",),
        exact=True,
    ),
    Case(
        "an undeclared name is that of a file beside it",
        {"a.c": "int f() { return g(); }\n", "g.c": "int g() { return 1; }\n"},
        ("f -> g [resolved]",),
        exact=True,
    ),
    Case(
        "an undeclared name is not that of a far file",
        {
            "src/a.c": "#include <error.h>\nvoid f(void) { error(1); }\n",
            "tests/t.c": "void error(int x) {}\n",
        },
        ("f -> <external>.error [external]",),
        exact=True,
    ),
    Case(
        "a static function is its file's own",
        {
            "a.c": "void f(void) { g(); }\n",
            "b.c": "static void g(void) {}\nvoid h(void) { g(); }\n",
        },
        ("h -> g [resolved]", "f -> <external>.g [external]"),
        exact=True,
    ),
    Case(
        "static functions of one name",
        {
            "a.c": "static void g(void) { a1(); }\nvoid f(void) { g(); }\nvoid a1(void) {}\n",
            "b.c": "static void g(void) { b1(); }\nvoid h(void) { g(); }\nvoid b1(void) {}\n",
        },
        ("f -> g :2", "h -> g :2", "g -> a1", "g -> b1"),
        exact=True,
    ),
    Case(
        "static inline in a header that is included",
        {
            "a.c": '#include "i.h"\nvoid f(void) { g(); }\n',
            "i.h": "static inline void g(void) {}\n",
        },
        ("f -> g [resolved]",),
        exact=True,
    ),
    Case(
        "static inline in a header that is not included",
        {"a.c": "void f(void) { g(); }\n", "i.h": "static inline void g(void) {}\n"},
        ("f -> <external>.g [external]",),
        exact=True,
    ),
    Case(
        "headers that include headers",
        {
            "a.c": '#include "one.h"\nvoid f(void) { g(); }\n',
            "one.h": '#include "two.h"\n',
            "two.h": "static inline void g(void) {}\n",
        },
        ("f -> g",),
        exact=True,
    ),
    Case(
        "headers that include each other",
        {
            "a.c": '#include "one.h"\nvoid f(void) { g(); }\n',
            "one.h": '#include "two.h"\n',
            "two.h": '#include "one.h"\nstatic inline void g(void) {}\n',
        },
        ("f -> g",),
        exact=True,
    ),
    Case(
        "a header in an include folder above",
        {
            "src/x/a.c": '#include "lib/g.h"\nvoid f(void) { g(); }\n',
            "include/lib/g.h": "static inline void g(void) {}\n",
        },
        ("f -> g",),
        exact=True,
    ),
    Case(
        "a header by its ending, when there is only one",
        {
            "app/a.c": "#include <lib/g.h>\nvoid f(void) { g(); }\n",
            "vendor/public/lib/g.h": "static inline void g(void) {}\n",
        },
        ("f -> g",),
        exact=True,
    ),
    Case(
        "a header by its ending, when there are two",
        {
            "app/a.c": "#include <lib/g.h>\nvoid f(void) { g(); }\n",
            "one/x/lib/g.h": "static inline void g(void) {}\n",
            "two/x/lib/g.h": "static inline void g(void) {}\n",
        },
        ("f -> <external>.g [external]",),
        exact=True,
    ),
    Case(
        "a system header is not a file of its name",
        {
            "app/a.c": "#include <string.h>\nvoid f(void) { copy(); }\n",
            "compat/string.h": "static inline void copy(void) {}\n",
        },
        ("f -> <external>.copy [external]",),
        exact=True,
    ),
    Case(
        "of several definitions the nearest",
        {
            "api.h": "void g(void);\n",
            "unix/a.c": '#include "../api.h"\nvoid f(void) { g(); }\n',
            "unix/g.c": "void g(void) { u(); }\n",
            "win/g.c": "void g(void) { w(); }\n",
        },
        ("f -> g", "g -> <external>.u [external]", "g -> <external>.w [external]"),
        exact=True,
    ),
    Case(
        "each program has its own main",
        {
            "one.c": "static void a(void) {}\nint main(void) { a(); return 0; }\n",
            "two.c": "static void b(void) {}\nint main(void) { b(); return 0; }\n",
        },
        ("main -> a", "main -> b"),
        exact=True,
    ),
    Case(
        "both branches of a condition",
        {
            "a.c": """
                #ifdef X
                static void g(void) { one(); }
                static void one(void) {}
                #else
                static void g(void) { two(); }
                static void two(void) {}
                #endif
                void f(void) { g(); }
            """
        },
        ("f -> g", "g -> one", "g -> two"),
        exact=True,
    ),
    Case(
        "a condition in a function",
        {
            "a.c": """
                void g(void) {}
                void h(void) {}
                void f(void) {
                #if A
                    g();
                #else
                    h();
                #endif
                }
            """
        },
        ("f -> g :6", "f -> h :8"),
        exact=True,
    ),
    Case(
        "an old definition",
        {"a.c": "int g(a, b) int a; char *b; { return a; }\nint f() { return g(1, 0); }\n"},
        ("f -> g [resolved] :2",),
        exact=True,
    ),
    Case(
        "a local variable hides a function",
        {"a.c": "void g(void) {}\nvoid f(void) { void (*g)(void) = 0; g(); }\n"},
        never=("f -> g",),
        exact=True,
    ),
    Case(
        "a parameter hides a function",
        {"a.c": "void g(void) {}\nvoid f(void (*g)(void)) { g(); }\n"},
        never=("f -> g",),
        exact=True,
    ),
    Case(
        "a variable hides a function only in its block",
        {
            "a.c": """
                void g(void) {}
                void f(void) {
                    { int (*g)(void) = 0; g(); }
                    g();
                }
            """
        },
        ("f -> g [resolved] :5",),
        exact=True,
    ),
    Case(
        "a macro with parameters is a symbol",
        {"a.c": "void g(int x) {}\n#define CALL(x) g(x)\nvoid f(void) { CALL(1); }\n"},
        ("f -> CALL [resolved] :3", "CALL -> g [resolved] :2"),
        exact=True,
    ),
    Case(
        "a macro of several lines",
        {
            "a.c": """
                void g(int x) {}
                #define CALL(x) do { \\
                    g(x); \\
                } while (0)
                void f(void) { CALL(1); }
            """
        },
        ("f -> CALL :6", "CALL -> g :4"),
        exact=True,
    ),
    Case(
        "a macro calls neither its parameters nor what is in strings",
        {"a.c": 'void g(void) {}\n#define M(g) g(), p("g()"), x.g()\nvoid f(void) { M(h); }\n'},
        ("f -> M",),
        never=("M -> g",),
        exact=True,
    ),
    Case(
        "a macro that is another name",
        {"a.c": "void g(void) {}\n#define other g\nvoid f(void) { other(); }\n"},
        ("f -> g [resolved]",),
        exact=True,
    ),
    Case(
        "fields that designators fill in",
        {
            "a.c": OPS
            + """
            static int my_open(int x) { return x; }
            static int my_close(void) { return 0; }
            static struct ops o = { .open = my_open, .close = my_close };
            int f(struct ops *p) { return p->open(1); }
            """
        },
        ("f -> my_open [dispatch]",),
        exact=True,
    ),
    Case(
        "fields over files",
        {
            "ops.h": OPS,
            "a.c": '#include "ops.h"\nstatic int mine(int x) { return x; }\n'
            "struct ops a = { .open = mine };\n",
            "b.c": '#include "ops.h"\nint f(struct ops *p) { return p->open(1); }\n',
        },
        ("f -> mine [dispatch]",),
        exact=True,
    ),
    Case(
        "fields by position",
        {
            "a.c": OPS
            + """
            static int mine(int x) { return x; }
            static int shut(void) { return 0; }
            static struct ops o = { mine, shut };
            int f(struct ops *p) { return p->close(); }
            """
        },
        ("f -> shut [dispatch]",),
        exact=True,
    ),
    Case(
        "a table of structs",
        {
            "a.c": """
                struct cmd { const char *name; void (*run)(void); };
                static void get(void) {}
                static void set(void) {}
                static struct cmd table[] = { {"get", get}, {"set", set} };
                void f(int i) { table[i].run(); }
            """
        },
        ("f -> get [dispatch]", "f -> set [dispatch]"),
        exact=True,
    ),
    Case(
        "a field of a name in another struct",
        {
            "a.c": OPS
            + """
            struct other { int (*open)(int); };
            static int mine(int x) { return x; }
            static struct other o = { .open = mine };
            int f(struct ops *p) { return p->open(1); }
            """
        },
        never=("f -> mine",),
        exact=True,
    ),
    Case(
        "a field that is assigned",
        {
            "a.c": OPS
            + """
            static int mine(int x) { return x; }
            void init(struct ops *p) { p->open = mine; }
            int f(struct ops *p) { return p->open(1); }
            """
        },
        ("f -> mine [dispatch]",),
        exact=True,
    ),
    Case(
        "a struct by its typedef, in a struct",
        {
            "a.c": """
                typedef struct { int (*open)(int); } ops_t;
                typedef struct dev { ops_t *ops; } dev_t;
                static int mine(int x) { return x; }
                static ops_t o = { .open = mine };
                int f(dev_t *d) { return d->ops->open(1); }
            """
        },
        ("f -> mine [dispatch]",),
        exact=True,
    ),
    Case(
        "a variable that points to a function",
        {"a.c": "void g(void) {}\nvoid f(void) { void (*p)(void) = g; p(); (*p)(); }\n"},
        ("f -> g [dispatch] :2",),
        exact=True,
    ),
    Case(
        "a typedef of a pointer to a function",
        {"a.c": "typedef void (*fn)(void);\nvoid g(void) {}\nvoid f(void) { fn p = &g; p(); }\n"},
        ("f -> g [dispatch] :3",),
        exact=True,
    ),
    Case(
        "a parameter that points to a function",
        {"a.c": "void g(void) {}\nvoid ap(void (*p)(void)) { p(); }\nvoid f(void) { ap(g); }\n"},
        ("f -> ap [resolved]", "ap -> g [inferred]"),
        exact=True,
    ),
    Case(
        "an array of pointers to functions",
        {
            "a.c": "void g(void) {}\nvoid h(void) {}\nstatic void (*t[])(void) = { g, h };\n"
            "void f(int i) { t[i](); }\n"
        },
        ("f -> g [dispatch]", "f -> h [dispatch]"),
        exact=True,
    ),
    Case(
        "a variable of the program that another file assigns",
        {
            "h.h": "extern void (*hook)(void);\n",
            "a.c": '#include "h.h"\nstatic void g(void) {}\nvoid set(void) { hook = g; }\n',
            "b.c": '#include "h.h"\nvoid f(void) { hook(); }\n',
        },
        ("f -> g [dispatch]",),
        exact=True,
    ),
    Case(
        "calls in calls, conditions and loops",
        {
            "a.c": """
                int g(int x) { return x; }
                int f(int x) {
                    for (int i = g(1); i < g(2); i += g(3)) { if (g(4)) return g(g(5)); }
                    switch (g(6)) { case 1: g(7); }
                    return x ? g(8) : g(9);
                }
            """
        },
        ("f -> g :4", "f -> g :5", "f -> g :6"),
        exact=True,
    ),
    Case(
        "recursion",
        {"a.c": "int f(int n) { return n ? f(n - 1) : 0; }\n"},
        ("f -> f [resolved]",),
        exact=True,
    ),
    Case(
        "a struct and a function of one name",
        {"a.c": "struct g { int x; };\nvoid g(struct g *p) {}\nvoid f(void) { g(0); }\n"},
        ("f -> g [resolved] :3",),
        exact=True,
    ),
    Case(
        "the standard library is outside",
        {"a.c": '#include <stdio.h>\nvoid f(void) { printf("x"); }\n'},
        ("f -> <external>.printf [external]",),
        exact=True,
    ),
    Case(
        "what hangs on an outside value is not a function here",
        {"a.c": "void close(void) {}\nvoid f(EXT *e) { e->close(); }\n"},
        never=("f -> close",),
        exact=True,
    ),
    Case(
        "declared for C++ too",
        {"a.c": 'extern "C" {\nvoid g(void) {}\nvoid f(void) { g(); }\n}\n'},
        ("f -> g",),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    "text",
    [
        "int f(void) { return " + "(" * 10_000 + "1" + ")" * 10_000 + "; }",
        "void f(void) { " + "{" * 10_000,
        "int f(",
        "#define\n#include\nstruct {",
        "struct { struct { int x; } y; } z = { .y = { .x = g } };",
    ],
    ids=("brackets", "blocks", "cut off", "directives", "unnamed"),
)
def test_hostile(text: str) -> None:
    check(Case("hostile", {"a.c": text}))


def test_nearest_definition() -> None:
    found = graph_of(
        {
            "api.h": b"void g(void);\n",
            "unix/a.c": b'#include "../api.h"\nvoid f(void) { g(); }\n',
            "unix/g.c": b"void g(void) {}\n",
            "win/g.c": b"void g(void) {}\n",
            "core.c": b'#include "api.h"\nvoid h(void) { g(); }\n',
        }
    )
    shown = {
        (edge.caller_symbol.name, edge.callee_symbol.path)
        for edge in found
        if edge.caller_symbol is not None and edge.callee_symbol is not None
    }
    assert shown == {("f", "unix/g.c"), ("h", "unix/g.c"), ("h", "win/g.c")}
