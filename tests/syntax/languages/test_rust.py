"""Rust: what its calls resolve to, and what they must not."""

import pytest
from cases import Case, check

CARGO = '[package]\nname = "my-app"\nversion = "0.1.0"\n'

CASES = (
    Case(
        "a function of the file",
        {"a.rs": "fn f() { g(); }\nfn g() {}\n"},
        ("a::f -> a::g [resolved] :1",),
        exact=True,
    ),
    Case(
        "names by crate, folders and mod.rs",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "mod util;\npub fn f() { util::deep::g(); }\n",
            "src/util/mod.rs": "pub mod deep;\n",
            "src/util/deep.rs": "pub fn g() { crate::f(); super::super::f(); }\n",
        },
        (
            "my_app::f -> my_app::util::deep::g [resolved]",
            "my_app::util::deep::g -> my_app::f [resolved]",
        ),
        exact=True,
    ),
    Case(
        "a module beside a folder of its name",
        {
            "Cargo.toml": CARGO,
            "src/main.rs": "mod net;\nfn main() { net::tcp::open(); }\n",
            "src/net.rs": "pub mod tcp;\n",
            "src/net/tcp.rs": "pub fn open() {}\n",
        },
        ("my_app::main -> my_app::net::tcp::open",),
        exact=True,
    ),
    Case(
        "uses: lists, self, aliases",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": """
                mod a;
                use crate::a::{self, one, two as deux};
                fn f() { one(); deux(); a::three(); }
            """,
            "src/a.rs": "pub fn one() {}\npub fn two() {}\npub fn three() {}\n",
        },
        (
            "my_app::f -> my_app::a::one",
            "my_app::f -> my_app::a::two",
            "my_app::f -> my_app::a::three",
        ),
        exact=True,
    ),
    Case(
        "a glob and a re-export",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "mod a;\nmod b;\nuse a::*;\nfn f() { g(); h(); }\n",
            "src/a.rs": "pub use crate::b::h;\npub fn g() {}\n",
            "src/b.rs": "pub fn h() {}\n",
        },
        ("my_app::f -> my_app::a::g", "my_app::f -> my_app::b::h"),
        exact=True,
    ),
    Case(
        "a glob that passes a glob on",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "mod a;\nmod b;\nuse a::*;\nfn f() { h(); }\n",
            "src/a.rs": "pub use crate::b::*;\n",
            "src/b.rs": "pub fn h() {}\n",
        },
        ("my_app::f -> my_app::b::h",),
        exact=True,
    ),
    Case(
        "crates of one workspace",
        {
            "core/Cargo.toml": '[package]\nname = "core-lib"\n',
            "core/src/lib.rs": "pub mod m;\npub fn f() {}\n",
            "core/src/m.rs": "pub fn g() {}\n",
            "app/Cargo.toml": '[package]\nname = "app"\n',
            "app/src/main.rs": "use core_lib::m::g;\nfn main() { core_lib::f(); g(); }\n",
        },
        ("app::main -> core_lib::f", "app::main -> core_lib::m::g"),
        exact=True,
    ),
    Case(
        "an integration test calls the library by its name",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "pub fn f() {}\n",
            "tests/it.rs": "use my_app::f;\n#[test]\nfn works() { f(); }\n",
        },
        ("my_app::tests::it::works -> my_app::f",),
        exact=True,
    ),
    Case(
        "targets in folders of their own",
        {
            "Cargo.toml": '[package]\nname = "tool"\n[[bin]]\nname = "tool"\npath = "crates/core/main.rs"\n',
            "crates/core/main.rs": "mod flags;\nfn main() { flags::f(); }\npub fn g() {}\n",
            "crates/core/flags/mod.rs": "pub fn f() { crate::g(); }\n",
        },
        ("tool::main -> tool::flags::f", "tool::flags::f -> tool::g"),
        exact=True,
    ),
    Case(
        "an external crate is outside, whatever is called like it",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": 'fn from_str() {}\nfn f() { serde_json::from_str(""); std::mem::drop(1); }\n',
        },
        (
            "my_app::f -> serde_json.from_str [external]",
            "my_app::f -> std.mem.drop [external]",
        ),
        never=("* -> my_app::from_str",),
    ),
    Case(
        "inline modules, super and self",
        {
            "a.rs": """
                fn g() {}
                mod inner {
                    pub fn f() { super::g(); self::h(); k::m(); }
                    fn h() {}
                    mod k { pub fn m() { super::super::g(); } }
                }
            """
        },
        (
            "a::inner::f -> a::g",
            "a::inner::f -> a::inner::h",
            "a::inner::f -> a::inner::k::m",
            "a::inner::k::m -> a::g",
        ),
        exact=True,
    ),
    Case(
        "tests in the file see what is around them",
        {
            "a.rs": """
                pub fn g() {}
                #[cfg(test)]
                mod tests {
                    use super::*;
                    #[test]
                    fn t() { g(); }
                }
            """
        },
        ("a::tests::t -> a::g",),
        exact=True,
    ),
    Case(
        "a file that an attribute names",
        {
            "a.rs": '#[path = "other.rs"]\nmod b;\nfn f() { b::g(); }\n',
            "other.rs": "pub fn g() {}\n",
        },
        ("a::f -> other::g",),
        exact=True,
    ),
    Case(
        "methods of self, Self and the type",
        {
            "a.rs": """
                struct S;
                impl S {
                    fn new() -> Self { S }
                    fn f(&self) { self.g(); Self::h(); S::h(); }
                    fn g(&self) {}
                    fn h() {}
                }
            """
        },
        ("a::S::f -> a::S::g [resolved]", "a::S::f -> a::S::h [resolved]"),
        exact=True,
    ),
    Case(
        "a receiver by what made it",
        {
            "a.rs": """
                struct S;
                struct Other;
                impl S { fn new() -> Self { S } fn run(&self) {} }
                impl Other { fn run(&self) {} }
                fn f() { let s = S::new(); s.run(); S::new().run(); }
            """
        },
        ("a::f -> a::S::new", "a::f -> a::S::run"),
        never=("* -> a::Other::run",),
        exact=True,
    ),
    Case(
        "a receiver by its declared type",
        {
            "a.rs": """
                struct S;
                impl S { fn run(&self) {} }
                fn f(s: &S, t: &mut S, u: Box<S>, v: Option<std::rc::Rc<S>>) {
                    s.run(); t.run(); u.run(); v.unwrap().run();
                }
            """
        },
        ("a::f -> a::S::run :5",),
        exact=True,
    ),
    Case(
        "a shadowed variable is another one",
        {
            "a.rs": """
                struct A;
                struct B;
                impl A { fn go(&self) -> B { B } }
                impl B { fn go(&self) {} }
                fn f(x: A) { let x = x.go(); x.go(); }
                fn g(x: A) { { let x = B; x.go(); } x.go(); }
            """
        },
        ("a::f -> a::A::go", "a::f -> a::B::go", "a::g -> a::B::go", "a::g -> a::A::go"),
        exact=True,
    ),
    Case(
        "fields",
        {
            "a.rs": """
                struct Inner;
                impl Inner { fn run(&self) {} }
                struct Outer { inner: Inner, list: Vec<Inner> }
                struct Pair(Inner, u8);
                impl Outer { fn f(&self) { self.inner.run(); self.list[0].run(); } }
                fn g(o: Outer, p: Pair) { o.inner.run(); p.0.run(); }
            """
        },
        ("a::Outer::f -> a::Inner::run", "a::g -> a::Inner::run"),
        exact=True,
    ),
    Case(
        "loops and iterators",
        {
            "a.rs": """
                struct S;
                impl S { fn run(&self) {} }
                fn f(all: &[S], more: Vec<S>) {
                    for s in all { s.run(); }
                    for s in more.iter() { s.run(); }
                    for (i, s) in more.iter().enumerate() { s.other(i); }
                    more.iter().for_each(|s| s.run());
                    more.first().unwrap().run();
                }
            """
        },
        (
            "a::f -> a::S::run :5",
            "a::f -> a::S::run :6",
            "a::f::<lambda1> -> a::S::run :8",
            "a::f -> a::S::run :9",
        ),
        exact=True,
    ),
    Case(
        "matching an enum",
        {
            "a.rs": """
                struct S;
                impl S { fn run(&self) {} }
                enum E { One(S), Two { s: S }, Three }
                impl E { fn me(&self) {} }
                fn f(e: E) {
                    e.me();
                    match e {
                        E::One(s) => s.run(),
                        E::Two { s } => s.run(),
                        E::Three => (),
                    }
                    if let E::One(ref t) = e { t.run(); }
                }
            """
        },
        (
            "a::f -> a::E::me",
            "a::f -> a::S::run :9",
            "a::f -> a::S::run :10",
            "a::f -> a::S::run :13",
        ),
        exact=True,
    ),
    Case(
        "options and results",
        {
            "a.rs": """
                struct S;
                impl S { fn run(&self) {} }
                fn get() -> Option<S> { None }
                fn read() -> Result<S, String> { Ok(S) }
                fn f() -> Result<(), String> {
                    if let Some(s) = get() { s.run(); }
                    let Some(t) = get() else { return Ok(()) };
                    t.run();
                    read()?.run();
                    get().map(|s| s.run());
                    Ok(())
                }
            """
        },
        (
            "a::f -> a::S::run :7",
            "a::f -> a::S::run :9",
            "a::f -> a::S::run :10",
            "a::f::<lambda1> -> a::S::run :11",
            "a::f -> a::get",
            "a::f -> a::read",
        ),
        exact=True,
    ),
    Case(
        "a trait object dispatches to what implements the trait",
        {
            "a.rs": """
                trait T { fn run(&self); }
                struct A;
                struct B;
                struct C;
                impl T for A { fn run(&self) {} }
                impl T for B { fn run(&self) {} }
                impl C { fn run(&self) {} }
                fn f(t: &dyn T, u: Box<dyn T>, v: impl T) { t.run(); u.run(); v.run(); }
            """
        },
        ("a::f -> a::A::run [dispatch]", "a::f -> a::B::run [dispatch]", "a::f -> a::T::run"),
        never=("* -> a::C::run",),
    ),
    Case(
        "a type parameter dispatches by its bound",
        {
            "a.rs": """
                trait T { fn run(&self); fn make() -> Self; }
                struct A;
                impl T for A { fn run(&self) {} fn make() -> Self { A } }
                fn f<X: T>(x: X) { x.run(); X::make(); }
                fn g<X>(x: X) where X: T { x.run(); }
            """
        },
        (
            "a::f -> a::A::run [dispatch]",
            "a::g -> a::A::run [dispatch]",
        ),
    ),
    Case(
        "a default method, and what it calls",
        {
            "a.rs": """
                trait T { fn one(&self); fn both(&self) { self.one(); } }
                struct A;
                impl T for A { fn one(&self) {} }
                fn f(a: A) { a.both(); }
            """
        },
        ("a::f -> a::T::both [resolved]", "a::T::both -> a::A::one [dispatch]"),
    ),
    Case(
        "the type's own method of several of one name",
        {
            "a.rs": """
                trait T { fn run(&self) {} }
                struct A;
                struct B;
                impl A { fn run(&self) {} }
                impl T for B {}
                fn f(a: A, b: B) { a.run(); b.run(); }
            """
        },
        ("a::f -> a::A::run [resolved]", "a::f -> a::T::run [resolved]"),
        exact=True,
    ),
    Case(
        "an impl in another file",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "mod imp;\npub struct S;\npub fn f(s: S) { s.run(); s.told(); }\npub trait T { fn told(&self); }\n",
            "src/imp.rs": "use crate::{S, T};\nimpl S { pub fn run(&self) {} }\nimpl T for S { fn told(&self) {} }\n",
        },
        ("my_app::f -> my_app::imp::S::run", "my_app::f -> my_app::imp::S::told"),
        exact=True,
    ),
    Case(
        "a wrapper of the name of what it calls",
        {
            "Cargo.toml": CARGO,
            "src/lib.rs": "mod raw;\npub fn open() { raw::open(); }\n",
            "src/raw.rs": "pub fn open() {}\n",
        },
        ("my_app::open -> my_app::raw::open",),
        never=("my_app::open -> my_app::open",),
        exact=True,
    ),
    Case(
        "closures see what is around them",
        {
            "a.rs": """
                struct S;
                impl S { fn run(&self) {} }
                fn g() {}
                fn f(s: S) { let c = || { s.run(); g(); }; c(); }
            """
        },
        (
            "a::f::<lambda1> -> a::S::run",
            "a::f::<lambda1> -> a::g",
            "a::f -> a::f::<lambda1>",
        ),
        exact=True,
    ),
    Case(
        "a function that is passed on is called there",
        {
            "a.rs": """
                fn apply(f: fn(u8)) { f(1); }
                fn one(x: u8) {}
                fn f() { apply(one); }
            """
        },
        ("a::f -> a::apply", "a::apply -> a::one [inferred]"),
        exact=True,
    ),
    Case(
        "a function that an iterator calls",
        {"a.rs": "fn one(x: &u8) -> u8 { 1 }\nfn f(v: Vec<u8>) { v.iter().map(one); }\n"},
        ("a::f -> a::one",),
        exact=True,
    ),
    Case(
        "calls among the tokens of a macro",
        {
            "a.rs": """
                struct S;
                impl S { fn name(&self) -> u8 { 1 } }
                fn g() -> u8 { 1 }
                fn f(s: S) {
                    println!("{} {}", g(), s.name());
                    assert_eq!(crate_fn(S), vec![g()]);
                }
                fn crate_fn(s: S) {}
            """
        },
        ("a::f -> a::g :6", "a::f -> a::S::name :6", "a::f -> a::g :7", "a::f -> a::crate_fn :7"),
        exact=True,
    ),
    Case(
        "a nested function is its own caller",
        {"a.rs": "fn g() {}\nfn f() { fn inner() { g(); } inner(); }\n"},
        ("a::f::inner -> a::g", "a::f -> a::f::inner"),
        exact=True,
    ),
    Case(
        "constants call at module level",
        {"a.rs": "const fn g() -> u8 { 1 }\nstatic X: u8 = g();\n"},
        ("a -> a::g",),
        exact=True,
    ),
    Case(
        "associated types of Deref",
        {
            "a.rs": """
                struct Inner;
                impl Inner { fn run(&self) {} }
                struct Outer(Inner);
                impl std::ops::Deref for Outer { type Target = Inner; fn deref(&self) -> &Inner { &self.0 } }
                fn f(o: Outer) { o.run(); }
            """
        },
        ("a::f -> a::Inner::run",),
        exact=True,
    ),
    Case(
        "operators of own types",
        {
            "a.rs": """
                struct V;
                impl std::ops::Add for V { type Output = V; fn add(self, o: V) -> V { o } }
                fn f(a: V, b: V, n: u8) { a + b; n + n; }
            """
        },
        ("a::f -> a::V::add",),
        exact=True,
    ),
    Case(
        "derived methods are outside",
        {
            "a.rs": """
                #[derive(Clone, Default)]
                struct S;
                impl S { fn run(&self) {} }
                fn clone() {}
                fn f(s: S) { s.clone().run(); S::default().run(); }
            """
        },
        ("a::f -> a::S::run",),
        never=("* -> a::clone",),
    ),
    Case(
        "a type alias",
        {
            "a.rs": """
                struct S;
                impl S { fn new() -> S { S } fn run(&self) {} }
                type Alias = S;
                fn f(s: Alias) { s.run(); Alias::new(); }
            """
        },
        ("a::f -> a::S::run", "a::f -> a::S::new"),
        exact=True,
    ),
    Case(
        "generic structs give what they hold",
        {
            "a.rs": """
                struct W<T> { inner: T }
                impl<T> W<T> { fn get(&self) -> &T { &self.inner } }
                struct S;
                impl S { fn run(&self) {} }
                fn f(w: W<S>) { w.get().run(); w.inner.run(); }
            """
        },
        ("a::f -> a::W::get", "a::f -> a::S::run"),
        exact=True,
    ),
    Case(
        "maps give their values",
        {
            "a.rs": """
                use std::collections::HashMap;
                struct S;
                impl S { fn run(&self) {} }
                fn f(m: HashMap<String, S>) { for s in m.values() { s.run(); } m.get("x").unwrap().run(); }
            """
        },
        ("a::f -> a::S::run",),
        exact=True,
    ),
    Case(
        "async functions",
        {
            "a.rs": """
                struct S;
                impl S { async fn load() -> S { S } async fn run(&self) {} }
                async fn f() { S::load().await.run().await; }
            """
        },
        ("a::f -> a::S::load", "a::f -> a::S::run"),
        exact=True,
    ),
    Case(
        "a local name is not the function of that name",
        {
            "a.rs": """
                fn run() {}
                fn f(run: impl Fn()) { run(); }
                fn g() { let run = || (); run(); }
            """
        },
        ("a::g -> a::g::<lambda1>",),
        never=("* -> a::run",),
        exact=True,
    ),
    Case(
        "turbofish and qualified paths",
        {
            "a.rs": """
                trait T { fn make() -> Self; }
                struct S;
                impl T for S { fn make() -> Self { S } }
                fn g<X>() {}
                fn f() { g::<u8>(); <S as T>::make(); S::make(); }
            """
        },
        ("a::f -> a::g", "a::f -> a::S::make"),
        exact=True,
    ),
    Case(
        "a call that no function answers has no edge",
        {"a.rs": "fn f(x: Unknown) { x.run(); missing(); }\nmod m { pub fn missing2() {} }\n"},
        exact=True,
    ),
    Case(
        "functions of a foreign library",
        {"a.rs": 'extern "C" { fn c_call(x: i32); }\nfn f() { unsafe { c_call(1); } }\n'},
        ("a::f -> a::c_call [dispatch]",),
        exact=True,
    ),
    Case(
        "method calls keep the line of the name",
        {
            "a.rs": """
                struct B;
                impl B { fn new() -> B { B } fn x(self) -> Self { self } fn y(self) -> Self { self } }
                fn f() {
                    B::new()
                        .x()
                        .y();
                }
            """
        },
        ("a::f -> a::B::new :5", "a::f -> a::B::x :6", "a::f -> a::B::y :7"),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls(case: Case) -> None:
    check(case)
