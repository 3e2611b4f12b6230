"""Java: what its calls resolve to, and what they must not."""

import pytest
from cases import Case, check

CASES = (
    Case(
        "methods of the class",
        {"A.java": "class A {\n void f() { g(); this.h(); }\n void g() {}\n void h() {}\n}\n"},
        ("A.f -> A.g [resolved] :2", "A.f -> A.h [resolved] :2"),
        exact=True,
    ),
    Case(
        "classes of one package see each other",
        {
            "p/A.java": "package p;\nclass A { void f(B b) { b.g(); B.s(); } }\n",
            "p/B.java": "package p;\nclass B { void g() {} static void s() {} }\n",
            "q/B.java": "package q;\nclass B { void g() {} static void s() {} }\n",
        },
        ("p.A.f -> p.B.g", "p.A.f -> p.B.s"),
        exact=True,
    ),
    Case(
        "imports: single, on demand, static, nested",
        {
            "p/A.java": "package p;\npublic class A { public static void s() {} public static class N { public void m() {} } }\n",
            "r/D.java": "package r;\npublic class D { public void d() {} }\n",
            "q/B.java": """
                package q;
                import p.A;
                import p.A.N;
                import r.*;
                import static p.A.s;
                class B {
                    void f(N n, D d) { A.s(); s(); n.m(); d.d(); }
                }
            """,
            "q/C.java": "package q;\nimport static p.A.*;\nclass C { void f() { s(); } }\n",
        },
        (
            "q.B.f -> p.A.s",
            "q.B.f -> p.A.N.m",
            "q.B.f -> r.D.d",
            "q.C.f -> p.A.s",
        ),
        exact=True,
    ),
    Case(
        "a qualified name needs no import",
        {
            "p/q/A.java": "package p.q;\npublic class A { public static void s() {} }\n",
            "B.java": "class B { void f() { p.q.A.s(); new p.q.A(); } }\n",
        },
        ("B.f -> p.q.A.s", "B.f -> p.q.A"),
        exact=True,
    ),
    Case(
        "a class outside is outside, whatever is called like its method",
        {
            "A.java": """
                import java.util.List;
                class A {
                    void add(String s) {}
                    void f(List<String> l, String s) { l.add("x"); s.length(); Math.abs(1); java.util.Objects.hash(1); }
                    int length() { return 1; }
                }
            """
        },
        (
            "A.f -> java.util.List.add [external]",
            "A.f -> java.lang.Math.abs [external]",
            "A.f -> java.util.Objects.hash [external]",
        ),
        never=("* -> A.add", "* -> A.length"),
        exact=True,
    ),
    Case(
        "constructors",
        {
            "A.java": """
                class A {
                    A() { this(1); }
                    A(int x) { super(); }
                    static void f() { new A(); new A(1); new B(); }
                }
                class B extends A { B() { } }
                class C {}
                class D { void f() { new C(); } }
            """
        },
        (
            "A.<init> -> A.<init> :3",
            "A.f -> A.<init> :5",
            "A.f -> B.<init> :5",
            "B.<init> -> A.<init> :7",
            "D.f -> C",
        ),
        exact=True,
    ),
    Case(
        "fields, locals and var",
        {
            "A.java": """
                class S { S next() { return this; } void go() {} }
                class A {
                    private final S s = new S();
                    S[] all;
                    void f() {
                        s.go();
                        S t = s.next();
                        t.go();
                        var u = s.next().next();
                        u.go();
                        all[0].go();
                        this.s.go();
                    }
                }
            """
        },
        (
            "A.f -> S.go :7",
            "A.f -> S.go :9",
            "A.f -> S.go :11",
            "A.f -> S.go :12",
            "A.f -> S.go :13",
            "A.f -> S.next",
            "A -> S",
        ),
        exact=True,
    ),
    Case(
        "a variable of another block is another one",
        {
            "A.java": """
                class S { void go() {} }
                class T { void go() {} }
                class A { void f() { { S x = new S(); x.go(); } { T x = new T(); x.go(); } } }
            """
        },
        ("A.f -> S.go", "A.f -> T.go", "A.f -> S", "A.f -> T"),
        exact=True,
    ),
    Case(
        "overloads by the number of arguments",
        {
            "A.java": "class A { void g() {}\n void g(int a) { h(); }\n void h() {}\n void f() { g(1); } }\n"
        },
        ("A.f -> A.g", "A.g -> A.h"),
        exact=True,
    ),
    Case(
        "overloads by type",
        {
            "A.java": """
                class A {
                    void s(String x) { one(); }
                    void s(int x) { two(); }
                    void s(B x) { three(); }
                    void one() {} void two() {} void three() {}
                    void f(B b, String t) { s("x"); s(1); s(b); s(t); }
                }
                class B {}
            """
        },
        ("A.f -> A.s", "A.s -> A.one", "A.s -> A.two", "A.s -> A.three"),
        exact=True,
    ),
    Case(
        "inherited overloads count beside own ones",
        {
            "A.java": """
                class Base { void s(String x) { } }
                class A extends Base {
                    void s(int x) { }
                    void f(A a) { s("x"); a.s("y"); }
                    void g(A a) { s(1); a.s(2); }
                }
            """
        },
        ("A.f -> Base.s", "A.g -> A.s"),
        exact=True,
    ),
    Case(
        "varargs",
        {"A.java": 'class A { void v(String... xs) {} void f() { v(); v("a", "b"); } }\n'},
        ("A.f -> A.v",),
        exact=True,
    ),
    Case(
        "super",
        {
            "A.java": """
                class Base { void m() {} void n() {} }
                class A extends Base { void m() { super.m(); n(); } }
            """
        },
        ("A.m -> Base.m [resolved]", "A.m -> Base.n [resolved]"),
        exact=True,
    ),
    Case(
        "an interface dispatches to its implementations",
        {
            "A.java": """
                interface I { void m(); default void d() { m(); } static void s() {} }
                class X implements I { public void m() {} }
                class Y implements I { public void m() {} }
                class Z { public void m() {} }
                class A { void f(I i) { i.m(); i.d(); I.s(); } }
            """
        },
        (
            "A.f -> X.m [dispatch]",
            "A.f -> Y.m [dispatch]",
            "A.f -> I.m [dispatch]",
            "A.f -> I.d [resolved]",
            "A.f -> I.s [resolved]",
            "I.d -> X.m [dispatch]",
        ),
        never=("* -> Z.m",),
    ),
    Case(
        "an override dispatches, the declared method is resolved",
        {
            "A.java": """
                class Base { void m() {} }
                class Sub extends Base { void m() {} }
                class A { void f(Base b) { b.m(); new Base().m(); new Sub().m(); } }
            """
        },
        ("A.f -> Base.m [resolved] :4", "A.f -> Sub.m [dispatch] :4", "A.f -> Base", "A.f -> Sub"),
        exact=True,
    ),
    Case(
        "a new instance needs no dispatch",
        {
            "A.java": """
                class Base { void m() {} }
                class Sub extends Base { void m() {} }
                class A { void f() { new Base().m(); } void g() { Base b = new Base(); b.m(); } }
            """
        },
        ("A.f -> Base.m", "A.g -> Base.m", "A.f -> Base", "A.g -> Base"),
        exact=True,
    ),
    Case(
        "an abstract method",
        {
            "A.java": """
                abstract class Base { abstract void m(); void run() { m(); } }
                class Sub extends Base { void m() {} }
            """
        },
        ("Base.run -> Sub.m [dispatch]", "Base.run -> Base.m [dispatch]"),
        exact=True,
    ),
    Case(
        "nested classes and what is around them",
        {
            "A.java": """
                class A {
                    void outer() {}
                    static void st() {}
                    class In { void f() { outer(); A.this.outer(); } }
                    static class SN { void f() { st(); } void own() { f(); } }
                    void g() { new SN().own(); new A.SN().f(); }
                }
            """
        },
        (
            "A.In.f -> A.outer",
            "A.SN.f -> A.st",
            "A.SN.own -> A.SN.f",
            "A.g -> A.SN.own",
            "A.g -> A.SN.f",
            "A.g -> A.SN",
        ),
        exact=True,
    ),
    Case(
        "an anonymous class",
        {
            "A.java": """
                interface I { void m(); }
                class A {
                    void g() {}
                    void f() { use(new I() { public void m() { g(); } }); }
                    void use(I i) { i.m(); }
                }
            """
        },
        (
            "A.f -> A.use",
            "A.f -> A.f.<anonymous1>",
            "A.f.<anonymous1>.m -> A.g",
            "A.use -> A.f.<anonymous1>.m [dispatch]",
            "A.use -> I.m [dispatch]",
        ),
        exact=True,
    ),
    Case(
        "a local class",
        {"A.java": "class A { void f() { class L { void m() {} } new L().m(); } }\n"},
        ("A.f -> A.f.L.m", "A.f -> A.f.L"),
        exact=True,
    ),
    Case(
        "an enum with bodies, and its constructor",
        {
            "E.java": """
                enum E {
                    ONE(1) { int v() { return 2; } },
                    TWO(2);
                    E(int n) {}
                    int v() { return 0; }
                    static int f(E e) { return e.v() + TWO.v(); }
                }
            """
        },
        ("E.f -> E.v [resolved]", "E.f -> E.ONE.v [dispatch]", "E -> E.<init>"),
        exact=True,
    ),
    Case(
        "a record and its accessors",
        {
            "P.java": """
                record P(S s, int n) {
                    P { check(n); }
                    static void check(int n) {}
                    void f() { s().go(); this.s().go(); s.go(); }
                }
                class S { void go() {} }
                class U { void f(P p) { p.s().go(); p.n(); new P(null, 1); } }
            """
        },
        (
            "P.<init> -> P.check",
            "P.f -> P.s",
            "P.f -> S.go",
            "U.f -> P.s",
            "U.f -> P.n",
            "U.f -> S.go",
            "U.f -> P.<init>",
        ),
        exact=True,
    ),
    Case(
        "lambdas",
        {
            "A.java": """
                import java.util.List;
                class S { void go() {} }
                class A {
                    void g() {}
                    void f(List<S> all) {
                        Runnable r = () -> g();
                        all.forEach(s -> s.go());
                        all.stream().filter(s -> true).map(s -> s).forEach(s -> s.go());
                    }
                }
            """
        },
        ("A.f.<lambda1> -> A.g", "A.f.<lambda2> -> S.go"),
    ),
    Case(
        "a lambda for an own interface is reached by flow",
        {
            "A.java": """
                interface Op { int go(int x); }
                class A {
                    int run(Op op) { return op.go(1); }
                    int twice(int x) { return x; }
                    void f() { run(x -> twice(x)); run(this::twice); }
                }
            """
        },
        (
            "A.f -> A.run",
            "A.run -> Op.go [dispatch]",
            "A.run -> A.f.<lambda1> [inferred]",
            "A.f.<lambda1> -> A.twice",
            "A.f.<lambda2> -> A.twice",
        ),
    ),
    Case(
        "method references",
        {
            "A.java": """
                import java.util.List;
                class S { S() {} void go() {} static void st(S s) {} }
                class A {
                    void m(S s) {}
                    void f(List<S> all) {
                        all.forEach(S::go);
                        all.forEach(S::st);
                        all.forEach(this::m);
                        java.util.function.Supplier<S> n = S::new;
                    }
                }
            """
        },
        (
            "A.f.<lambda1> -> S.go :7",
            "A.f.<lambda2> -> S.st :8",
            "A.f.<lambda3> -> A.m :9",
            "A.f.<lambda4> -> S.<init> :10",
        ),
        exact=True,
    ),
    Case(
        "a method is never a variable of its name",
        {
            "A.java": """
                class A {
                    Runnable run = () -> g();
                    void run() {}
                    void g() {}
                    void f(Runnable g) { g(); run(); }
                }
            """
        },
        ("A.f -> A.g", "A.f -> A.run", "A.<lambda1> -> A.g"),
        exact=True,
    ),
    Case(
        "generics give what they hold",
        {
            "A.java": """
                import java.util.*;
                class S { void go() {} }
                class Box<T> { T value; T get() { return value; } }
                class A {
                    void f(List<S> l, Map<String, S> m, Box<S> b, Optional<S> o, Iterator<S> it) {
                        l.get(0).go();
                        m.get("x").go();
                        for (S s : l) s.go();
                        for (var s : m.values()) s.go();
                        for (Map.Entry<String, S> e : m.entrySet()) e.getValue().go();
                        b.get().go();
                        b.value.go();
                        o.get().go();
                        it.next().go();
                    }
                }
            """
        },
        (
            *tuple(f"A.f -> S.go :{line}" for line in (7, 8, 9, 10, 11, 12, 13, 14, 15)),
            "A.f -> Box.get",
        ),
        exact=True,
    ),
    Case(
        "a generic method",
        {
            "A.java": """
                class S { void go() {} }
                class A {
                    static <T> T same(T x) { return x; }
                    <T extends S> void all(T t) { t.go(); }
                    void f(S s) { same(s).go(); }
                }
            """
        },
        ("A.f -> A.same", "A.f -> S.go", "A.all -> S.go"),
        exact=True,
    ),
    Case(
        "patterns",
        {
            "A.java": """
                class S { boolean ok() { return true; } void go() {} }
                class T { void go() {} }
                class A {
                    void f(Object o) {
                        if (o instanceof S s && s.ok()) s.go();
                        switch (o) { case S s -> s.go(); case T t -> t.go(); default -> {} }
                    }
                }
            """
        },
        ("A.f -> S.ok", "A.f -> S.go :6", "A.f -> S.go :7", "A.f -> T.go"),
        exact=True,
    ),
    Case(
        "a switch gives a value",
        {
            "A.java": """
                class S { void go() {} }
                class A {
                    S one() { return null; }
                    S two() { return null; }
                    void f(int n) { var s = switch (n) { case 1 -> one(); default -> { yield two(); } }; s.go(); }
                }
            """
        },
        ("A.f -> A.one", "A.f -> A.two", "A.f -> S.go"),
        exact=True,
    ),
    Case(
        "try closes what it opens",
        {
            "A.java": """
                class R implements AutoCloseable { public void close() {} void use() {} }
                class Oops extends Exception { void told() {} }
                class A {
                    void f() { try (R r = new R()) { r.use(); } catch (Oops e) { e.told(); } finally { g(); } }
                    void g() {}
                }
            """
        },
        ("A.f -> R.use", "A.f -> R.close", "A.f -> Oops.told", "A.f -> A.g", "A.f -> R"),
        exact=True,
    ),
    Case(
        "a loop asks for an iterator",
        {
            "A.java": """
                class All implements Iterable<String> { public java.util.Iterator<String> iterator() { return null; } }
                class A { void f(All all) { for (String s : all) { s.length(); } } }
            """
        },
        ("A.f -> All.iterator",),
        exact=True,
    ),
    Case(
        "text asks for toString",
        {
            "A.java": """
                class S { public String toString() { return ""; } }
                class A { String f(S s, int n) { return "a" + s + n; } }
            """
        },
        ("A.f -> S.toString",),
        exact=True,
    ),
    Case(
        "initialisers",
        {
            "A.java": """
                class A {
                    static int x = g();
                    int y = h();
                    static { g(); }
                    { h(); }
                    static int g() { return 1; }
                    int h() { return 1; }
                }
            """
        },
        ("A -> A.g :3", "A -> A.h :4", "A.<clinit> -> A.g", "A.<instance> -> A.h"),
        exact=True,
    ),
    Case(
        "a field that a constructor sets",
        {
            "A.java": """
                interface I { void m(); }
                class X implements I { public void m() {} }
                class A {
                    private I i;
                    A(I i) { this.i = i; }
                    void f() { i.m(); }
                }
            """
        },
        ("A.f -> X.m [dispatch]", "A.f -> I.m [dispatch]"),
        exact=True,
    ),
    Case(
        "a cast says the type",
        {
            "A.java": """
                class S { void go() {} }
                class A { void f(Object o) { ((S) o).go(); S s = (S) o; s.go(); } }
            """
        },
        ("A.f -> S.go",),
        exact=True,
    ),
    Case(
        "calls in arguments, conditions and annotations",
        {
            "A.java": """
                class A {
                    int a() { return 1; }
                    int b(int x) { return x; }
                    void f(boolean c) { b(a()); int x = c ? a() : b(2); while (a() > 0) { b(1); } assert a() == 1; }
                }
            """
        },
        ("A.f -> A.a", "A.f -> A.b"),
        exact=True,
    ),
    Case(
        "chains keep the line of each name",
        {
            "A.java": """
                class B { B x() { return this; } B y() { return this; } static B of() { return null; } }
                class A {
                    void f() {
                        B.of()
                            .x()
                            .y();
                    }
                }
            """
        },
        ("A.f -> B.of :5", "A.f -> B.x :6", "A.f -> B.y :7"),
        exact=True,
    ),
    Case(
        "static members of a superclass",
        {
            "A.java": """
                class Base { static void s() {} static class N { void m() {} } }
                class A extends Base { void f() { s(); A.s(); new N().m(); } }
            """
        },
        ("A.f -> Base.s", "A.f -> Base.N.m", "A.f -> Base.N"),
        exact=True,
    ),
    Case(
        "a package-private class beside another of the file",
        {
            "p/A.java": "package p;\npublic class A { void f() { new H().g(); } }\nclass H { void g() {} }\n",
            "p/C.java": "package p;\nclass C { void f(H h) { h.g(); } }\n",
        },
        ("p.A.f -> p.H.g", "p.C.f -> p.H.g", "p.A.f -> p.H"),
        exact=True,
    ),
    Case(
        "an imported name is not the package's",
        {
            "p/B.java": "package p;\npublic class B { public void m() {} }\n",
            "q/B.java": "package q;\npublic class B { public void m() {} }\n",
            "q/A.java": "package q;\nimport p.B;\nclass A { void f(B b) { b.m(); } }\n",
        },
        ("q.A.f -> p.B.m",),
        exact=True,
    ),
    Case(
        "a method of an outside superclass",
        {
            "A.java": "import x.Base;\nclass A extends Base { void f() { up(); g(); } void g() {} }\n"
        },
        ("A.f -> x.Base.up [external]", "A.f -> A.g [resolved]"),
        exact=True,
    ),
    Case(
        "an interface that extends another",
        {
            "A.java": """
                interface I { void m(); }
                interface J extends I { }
                class X implements J { public void m() {} }
                class A { void f(J j, I i) { j.m(); i.m(); } }
            """
        },
        ("A.f -> X.m [dispatch]", "A.f -> I.m [dispatch]"),
        exact=True,
    ),
    Case(
        "the interface nearest to the class gives the default",
        {
            "A.java": """
                interface I { default void m() {} }
                interface J extends I { default void m() {} }
                class Up implements I {}
                class X extends Up implements J {}
                class A { void f(X x) { x.m(); } }
            """
        },
        ("A.f -> J.m [resolved]",),
        exact=True,
    ),
    Case(
        "a class wins over an interface",
        {
            "A.java": """
                interface I { default void m() {} }
                class Base { public void m() {} }
                class X extends Base implements I {}
                class A { void f(X x) { x.m(); } }
            """
        },
        ("A.f -> Base.m [resolved]",),
        exact=True,
    ),
    Case(
        "a class of the outside package that is imported on demand",
        {"A.java": 'import java.util.*;\nclass A { void f(List<String> l) { l.add("x"); } }\n'},
        ("A.f -> java.util.List.add [external]",),
        exact=True,
    ),
    Case(
        "recursion",
        {"A.java": "class A { int f(int n) { return n < 1 ? 0 : f(n - 1); } }\n"},
        ("A.f -> A.f",),
        exact=True,
    ),
    Case(
        "an inner class made by an instance",
        {
            "A.java": """
                class Out { class In { void m() {} } }
                class A { void f(Out o) { o.new In().m(); } }
            """
        },
        ("A.f -> Out.In.m", "A.f -> Out.In"),
        exact=True,
    ),
    Case(
        "arrays of what is called",
        {
            "A.java": """
                class S { void go() {} }
                class A { void f(S[] a) { for (S s : a) s.go(); S[] b = { new S() }; b[0].go(); new S[1][0].toString(); } }
            """
        },
        ("A.f -> S.go", "A.f -> S"),
        exact=True,
    ),
    Case(
        "a builder returns itself",
        {
            "A.java": """
                class Q { Q where(String s) { return this; } Q limit(int n) { return this; } void run() {} }
                class A { void f(Q q) { q.where("x").limit(1).run(); } }
            """
        },
        ("A.f -> Q.where", "A.f -> Q.limit", "A.f -> Q.run"),
        exact=True,
    ),
    Case(
        "unknown names have no edge",
        {"A.java": "class A { void m() {} void f(x.Unknown u) { u.m(); missing(); } }\n"},
        exact=True,
    ),
    Case(
        "two classes with one method's name are two",
        {
            "p/A.java": "package p;\nclass A { void run() { go(); } void go() {} }\nclass B { void run() { go(); } void go() {} }\n"
        },
        ("p.A.run -> p.A.go", "p.B.run -> p.B.go"),
        exact=True,
    ),
    Case(
        "a default method of an interface that a class overrides",
        {
            "A.java": """
                interface I { default void d() {} }
                class X implements I { public void d() { I.super.d(); } }
                class A { void f(I i) { i.d(); } }
            """
        },
        ("A.f -> I.d [resolved]", "A.f -> X.d [dispatch]", "X.d -> I.d"),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls(case: Case) -> None:
    check(case)
