"""Go in one package: receivers, embedding, interfaces, values, closures, generics."""

import pytest
from cases import Case, check

TYPES = """
package m
type A struct{}
func (a A) Go() {}
func (a *A) Ptr() {}
type B struct{}
func (b *B) Go() {}
"""


def _case(name: str, source: str, *edges: str, never: tuple[str, ...] = ()) -> Case:
    """Names without their package, which is ``m``; the edges are all there are."""
    files = {"go.mod": "module m\n", "types.go": TYPES, "a.go": f"package m\n{source}"}
    return Case(
        name, files, tuple(_full(edge) for edge in edges), tuple(map(_full, never)), exact=True
    )


def _full(edge: str) -> str:
    caller, _, callee = edge.partition(" -> ")
    sides = (
        side if side == "*" or ("." in side and side[0] == "<") else f"m.{side}"
        for side in (caller, callee)
    )
    return " -> ".join(sides)


CASES = (
    _case("value receiver", "func f(a A) { a.Go() }", "f -> A.Go [resolved]"),
    _case("pointer receiver", "func f(a *A) { a.Ptr() }", "f -> A.Ptr [resolved]"),
    _case(
        "the receiver's own methods",
        "func (a A) X() { a.Go() }\nfunc (b *B) X() { b.Go() }",
        "A.X -> A.Go",
        "B.X -> B.Go",
    ),
    _case("a typed variable", "func f() { var b B; b.Go() }", "f -> B.Go"),
    _case("a composite literal", "func f() { a := A{}; a.Go() }", "f -> A.Go"),
    _case("the address of one", "func f() { a := &A{}; a.Ptr() }", "f -> A.Ptr"),
    _case("new", "func f() { a := new(A); a.Ptr() }", "f -> A.Ptr"),
    _case(
        "what a function gives",
        "func mk() *B { return nil }\nfunc f() { mk().Go() }",
        "f -> mk",
        "f -> B.Go",
    ),
    _case(
        "several results",
        "func mk() (*A, B, error) { panic(1) }\nfunc f() { a, b, err := mk(); a.Go(); b.Go(); _ = err }",
        "f -> mk",
        "f -> A.Go",
        "f -> B.Go",
    ),
    _case(
        "named results",
        "func f() (b B, err error) { b.Go(); return }",
        "f -> B.Go",
    ),
    _case(
        "struct fields, chained",
        "type S struct { in *T }\ntype T struct { b B }\nfunc f(s S) { s.in.b.Go() }",
        "f -> B.Go",
    ),
    _case(
        "a field called like its type",
        "type S struct { A A; B *B }\nfunc f(s S) { s.A.Go(); s.B.Go() }",
        "f -> A.Go",
        "f -> B.Go",
    ),
    _case(
        "promotion of an embedded struct's methods and fields",
        "type S struct { *T }\ntype T struct { A; b B }\nfunc f(s S) { s.Go(); s.b.Go(); s.T.A.Ptr() }",
        "f -> A.Go",
        "f -> B.Go",
        "f -> A.Ptr",
    ),
    _case(
        "the shallowest promoted method wins",
        "type D struct { A }\ntype S struct { D; B }\nfunc f(s S) { s.Go() }",
        "f -> B.Go",
        never=("f -> A.Go",),
    ),
    _case(
        "a method of its own comes before a promoted one",
        "type S struct { A }\nfunc (s S) Go() {}\nfunc f(s S) { s.Go(); s.A.Go() }",
        "f -> S.Go",
        "f -> A.Go",
    ),
    _case(
        "embedding does not override",
        "type S struct { A }\nfunc (s S) Go() {}\nfunc (a A) Run() { a.Go() }",
        "A.Run -> A.Go",
        never=("A.Run -> S.Go",),
    ),
    _case(
        "methods of what embeds an outside type",
        'import "sync"\ntype S struct { sync.Mutex }\nfunc (b B) Lock() {}\nfunc f(s *S) { s.Lock() }',
        never=("* -> B.Lock",),
    ),
    _case(
        "interface dispatch",
        "type I interface { Go() }\nfunc f(i I) { i.Go() }",
        "f -> I.Go [dispatch]",
        "f -> A.Go [dispatch]",
        "f -> B.Go [dispatch]",
    ),
    _case(
        "every method has to be there",
        "type I interface { Go(); Ptr() }\nfunc f(i I) { i.Go() }",
        "f -> I.Go [dispatch]",
        "f -> A.Go [dispatch]",
        never=("f -> B.Go",),
    ),
    _case(
        "an embedded interface",
        "type I interface { Go() }\ntype J interface { I; Ptr() }\nfunc f(j J) { j.Go() }",
        "f -> I.Go [dispatch]",
        "f -> A.Go [dispatch]",
        "f -> B.Go [dispatch]",
    ),
    _case(
        "an interface embedded in a struct",
        "type I interface { Ptr() }\ntype S struct { I }\nfunc f(s S) { s.Ptr() }",
        "f -> I.Ptr [dispatch]",
        "f -> A.Ptr [dispatch]",
    ),
    _case(
        "an empty interface has no methods",
        "func f(x interface{}, y any) { x.Go(); y.Go() }",
        never=("* -> A.Go",),
    ),
    _case(
        "type assertion",
        "func f(x any) { x.(A).Go(); if b, ok := x.(*B); ok { b.Go() } }",
        "f -> A.Go",
        "f -> B.Go",
    ),
    _case(
        "type switch",
        "func f(x any) { switch v := x.(type) { case A: v.Ptr(); case *B: v.Go() } }",
        "f -> A.Ptr",
        "f -> B.Go",
        never=("f -> A.Go",),
    ),
    _case(
        "range over a slice",
        "func f(xs []A) { for _, x := range xs { x.Go() } }",
        "f -> A.Go",
    ),
    _case(
        "range over a map's keys and values",
        "func f(m map[A]*B) { for k, v := range m { k.Ptr(); v.Go() } }",
        "f -> A.Ptr",
        "f -> B.Go",
        never=("f -> A.Go",),
    ),
    _case(
        "range over a map's keys",
        "func f(m map[A]*B) { for k := range m { k.Go() } }",
        "f -> A.Go",
        never=("f -> B.Go",),
    ),
    _case(
        "channels",
        "func f(c chan A, d chan *B) { for x := range c { x.Go() }; (<-d).Go() }",
        "f -> A.Go",
        "f -> B.Go",
    ),
    _case(
        "select",
        "func f(c chan A) { select { case x, ok := <-c: x.Go(); _ = ok } }",
        "f -> A.Go",
    ),
    _case(
        "indexes of slices, arrays and maps",
        'func f(a []A, b [2]B, m map[string]*A) { a[0].Go(); b[1].Go(); m["x"].Ptr() }',
        "f -> A.Go",
        "f -> B.Go",
        "f -> A.Ptr",
    ),
    _case(
        "comma ok of a map",
        'func f(m map[string]B) { if b, ok := m["x"]; ok { b.Go() } }',
        "f -> B.Go",
    ),
    _case(
        "slices, make and append",
        "func f() { xs := make([]A, 1); ys := append(xs, A{}); ys[1:][0].Go() }",
        "f -> A.Go",
    ),
    _case(
        "a defined slice type",
        "type L []A\nfunc (l L) All() { for _, a := range l { a.Go() }; l[0].Ptr() }",
        "L.All -> A.Go",
        "L.All -> A.Ptr",
    ),
    _case(
        "a type alias",
        "type X = A\nfunc f(x X) { x.Go() }",
        "f -> A.Go",
    ),
    _case(
        "a closure",
        "func f(b B) { go func() { b.Go() }() }",
        "f -> f.<lambda1>",
        "f.<lambda1> -> B.Go",
    ),
    _case(
        "nested closures",
        "func g() {}\nfunc f() { x := func() { y := func() { g() }; y() }; x() }",
        "f -> f.<lambda1>",
        "f.<lambda1> -> f.<lambda1>.<lambda1>",
        "f.<lambda1>.<lambda1> -> g",
    ),
    _case(
        "defer and go",
        "func f(a A, b B) { defer a.Go(); go b.Go() }",
        "f -> A.Go",
        "f -> B.Go",
    ),
    _case("a function value", "func g() {}\nfunc f() { h := g; h() }", "f -> g"),
    _case("a method value", "func f(a A) { h := a.Go; h() }", "f -> A.Go"),
    _case(
        "a method expression",
        "func f(a A) { A.Go(a); (*A).Ptr(&a) }",
        "f -> A.Go",
        "f -> A.Ptr",
    ),
    _case(
        "functions in a map",
        'func g() {}\nvar t = map[string]func(){"g": g}\nfunc f() { t["g"]() }',
        "f -> g",
    ),
    _case(
        "a callback",
        "func g() {}\nfunc each(do func()) { do() }\nfunc f() { each(g) }",
        "f -> each",
        "each -> g [inferred]",
    ),
    _case(
        "a function in a field",
        "func g() {}\ntype S struct { do func() }\nfunc (s S) run() { s.do() }\n"
        "func f() { s := S{do: g}; s.run() }",
        "f -> S.run",
        "S.run -> g [inferred]",
    ),
    _case(
        "a function type with methods",
        "type H func()\nfunc (h H) Serve() { h() }\nfunc g() {}\nfunc f() { H(g).Serve() }",
        "f -> H.Serve",
        "H.Serve -> g [inferred]",
    ),
    _case(
        "functional options",
        "type Option func(*A)\nfunc With() Option { return func(a *A) { a.Ptr() } }\n"
        "func New(opts ...Option) { for _, o := range opts { o(nil) } }\nfunc f() { New(With()) }",
        "f -> New",
        "f -> With",
        "With.<lambda1> -> A.Ptr",
        "New -> With.<lambda1> [inferred]",
    ),
    _case(
        "a generic function, its type argument inferred",
        "func First[T any](xs []T) T { return xs[0] }\nfunc f(xs []*B) { First(xs).Go() }",
        "f -> First",
        "f -> B.Go",
    ),
    _case(
        "a generic function, its type argument given",
        "func Make[T any]() T { panic(1) }\nfunc f() { Make[*B]().Go() }",
        "f -> Make",
        "f -> B.Go",
    ),
    _case(
        "a generic type",
        "type Box[T any] struct { v T }\nfunc (b *Box[E]) Get() E { return b.v }\n"
        "func f(x Box[A]) { x.Get().Go(); x.v.Ptr() }",
        "f -> Box.Get",
        "f -> A.Go",
        "f -> A.Ptr",
    ),
    _case(
        "a constraint's methods",
        "type I interface { Ptr() }\nfunc f[T I](x T) { x.Ptr() }",
        "f -> I.Ptr [dispatch]",
        "f -> A.Ptr [dispatch]",
    ),
    _case(
        "an anonymous struct",
        "func f() { var s struct { a A }; s.a.Go() }",
        "f -> A.Go",
    ),
    _case(
        "literals without a type of their own",
        "type S struct { b *B }\nfunc g() *B { return nil }\n"
        "func f() { for _, s := range []S{{b: g()}} { s.b.Go() } }",
        "f -> g",
        "f -> B.Go",
    ),
    _case(
        "shadowing by a new variable of the same name",
        "func f(x any) { if x, ok := x.(A); ok { x.Go() }; x.Go() }",
        "f -> A.Go :2",
        never=("f -> B.Go",),
    ),
    _case(
        "constants, labels, goto and switches",
        "const ( c = iota; d )\nfunc g() int { return c }\n"
        "func f() { L: for { switch g() { case d: break L; default: g() } } }",
        "f -> g",
    ),
    _case(
        "a package variable of another file's type",
        "var b B\nfunc f() { b.Go() }",
        "f -> B.Go",
    ),
    _case(
        "a local type",
        "func f() { type T struct { A }; t := T{}; t.Go() }",
        "f -> A.Go",
    ),
    _case(
        "constants that repeat the type before",
        "type K int\nfunc (k K) Name() {}\nconst ( c K = iota; d )\nfunc f() { d.Name() }",
        "f -> K.Name",
    ),
    _case(
        "sums are of their operands' type",
        "type K int\nfunc (k K) Name() {}\nconst c K = 1\nfunc f() { i := c + 1; i.Name(); (1 * i).Name() }",
        "f -> K.Name :5",
    ),
    _case(
        "an atomic pointer holds what it was made for",
        'import "sync/atomic"\nvar p atomic.Pointer[B]\nfunc f() { p.Load().Go() }',
        "f -> B.Go",
    ),
    _case("recursion", "func f(n int) { f(n - 1) }", "f -> f"),
    _case(
        "a method is not a function of the package",
        "func f() { Go() }",
        never=("* -> A.Go", "* -> B.Go"),
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_go(case: Case) -> None:
    check(case)


def test_deep_nesting_is_left_out() -> None:
    deep = "(" * 5000 + "1" + ")" * 5000
    terms = "+".join(["g()"] * 3000)
    source = f"package m\nfunc g() int {{ return 1 }}\nfunc f() {{ g(); _ = {deep} }}\nfunc h() {{ _ = {terms} }}\n"
    check(Case("deep", {"go.mod": "module m\n", "a.go": source}, ("m.f -> m.g", "m.h -> m.g")))
