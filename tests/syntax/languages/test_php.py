"""PHP: what its calls resolve to, and what they must not."""

import pytest
from cases import Case, check

A = "class A { function m() {} static function s() {} }\n"


def _case(name: str, text: str, *edges: str, never: tuple[str, ...] = ()) -> Case:
    return Case(name, {"a.php": f"<?php\n{A}{text}"}, edges, never, exact=True)


CASES = (
    _case("a function", "function g() {}\nfunction f() { g(); }", "f -> g [resolved] :4"),
    _case("module-level code", "function g() {}\ng();", "a.php -> g [resolved]"),
    _case("a method of a new object", "function f() { (new A)->m(); }", "f -> A", "f -> A::m"),
    _case("a variable", "function f() { $a = new A(); $a->m(); }", "f -> A", "f -> A::m"),
    _case("a typed parameter", "function f(A $a) { $a->m(); }", "f -> A::m"),
    _case("a nullable parameter", "function f(?A $a) { $a?->m(); }", "f -> A::m"),
    _case("a union", "function f(int|A $a) { $a->m(); }", "f -> A::m"),
    _case("a static call", "function f() { A::s(); }", "f -> A::s [resolved]"),
    _case("a return type", "function g(): A {}\nfunction f() { g()->m(); }", "f -> g", "f -> A::m"),
    _case(
        "a typed property",
        "class B { private A $a; function f() { $this->a->m(); } }",
        "B::f -> A::m",
    ),
    _case(
        "a promoted parameter",
        "class B { function __construct(private A $a) {} function f() { $this->a->m(); } }",
        "B::f -> A::m",
    ),
    _case(
        "an untyped property",
        "class B { private $a; function __construct() { $this->a = new A; }\n"
        "function f() { $this->a->m(); } }",
        "B::__construct -> A",
        "B::f -> A::m",
    ),
    _case(
        "a static property",
        "class B { static A $a; static function f() { self::$a->m(); } }",
        "B::f -> A::m",
    ),
    _case("this", "class B { function f() { $this->g(); } function g() {} }", "B::f -> B::g"),
    _case("self", "class B { function f() { self::g(); } static function g() {} }", "B::f -> B::g"),
    _case(
        "static",
        "class B { static function f() { static::g(); } static function g() {} }",
        "B::f -> B::g",
    ),
    _case(
        "a parent's method", "class B extends A { function m() { parent::m(); } }", "B::m -> A::m"
    ),
    _case(
        "an inherited method", "class B extends A { function f() { $this->m(); } }", "B::f -> A::m"
    ),
    _case(
        "a constructor",
        "class B { function __construct() {} }\nfunction f() { new B(1); }",
        "f -> B::__construct",
    ),
    _case(
        "an inherited constructor",
        "class B { function __construct() {} }\nclass C extends B {}\nfunction f() { new C; }",
        "f -> B::__construct",
    ),
    _case(
        "new self and new static",
        "class B { static function f() { (new self)->g(); (new static)->g(); } function g() {} }",
        "B::f -> B",
        "B::f -> B::g",
    ),
    _case(
        "an override",
        "class B extends A { function m() {} }\nfunction f(A $a) { $a->m(); }",
        "f -> A::m [resolved]",
        "f -> B::m [dispatch]",
    ),
    _case(
        "an interface",
        "interface I { function i(); }\nclass B implements I { function i() {} }\n"
        "function f(I $i) { $i->i(); }",
        "f -> I::i [dispatch]",
        "f -> B::i [dispatch]",
    ),
    _case(
        "a trait",
        "trait T { function t() {} }\nclass B { use T; function f() { $this->t(); } }",
        "B::f -> T::t",
    ),
    _case(
        "a trait before what is extended",
        "trait T { function m() {} }\nclass B extends A { use T; }\nfunction f() { (new B)->m(); }",
        "f -> B",
        "f -> T::m",
        never=("f -> A::m",),
    ),
    _case(
        "insteadof",
        "trait T { function t() {} }\ntrait U { function t() {} }\n"
        "class B { use T, U { U::t insteadof T; T::t as old; }\n"
        "function f() { $this->t(); $this->old(); } }",
        "B::f -> U::t",
        "B::f -> T::t",
    ),
    _case(
        "an enum", "enum E { case X; function e() {} }\nfunction f() { E::X->e(); }", "f -> E::e"
    ),
    _case(
        "a closure",
        "function g() {}\nfunction f() { $h = function () { g(); }; $h(); }",
        "f -> f::<lambda1>",
        "f::<lambda1> -> g",
    ),
    _case(
        "an arrow function",
        "function f(A $a) { $h = fn() => $a->m(); $h(); }",
        "f -> f::<lambda1>",
        "f::<lambda1> -> A::m",
    ),
    _case(
        "use by a closure",
        "function f(A $a) { return function () use ($a) { $a->m(); }; }",
        "f::<lambda1> -> A::m",
    ),
    _case(
        "first-class callables", "function g() {}\nfunction f() { $h = g(...); $h(); }", "f -> g"
    ),
    _case(
        "a callable as a string",
        "function g() {}\nfunction f($x) { array_map('g', $x); }",
        "f -> g",
    ),
    _case(
        "a callable as an array",
        "class B { function f($x) { usort($x, [$this, 'g']); } function g() {} }",
        "B::f -> B::g",
    ),
    _case(
        "invoke",
        "class B { function __invoke() {} }\nfunction f(B $b) { $b(); }",
        "f -> B::__invoke",
    ),
    _case(
        "foreach", "function f() { foreach ([new A] as $a) { $a->m(); } }", "f -> A", "f -> A::m"
    ),
    _case(
        "a list", "function f() { [$a, $b] = [new A, 1]; $a->m(); $b->m(); }", "f -> A", "f -> A::m"
    ),
    _case("catch", "function f() { try {} catch (A $e) { $e->m(); } }", "f -> A::m"),
    _case("instanceof", "function f($a) { if ($a instanceof A) { $a->m(); } }", "f -> A::m"),
    _case("a conditional", "function f($x) { ($x ? new A : null)->m(); }", "f -> A", "f -> A::m"),
    _case("match", "function g() {}\nfunction f($x) { return match ($x) { 1 => g() }; }", "f -> g"),
    _case("a text", 'function f(A $a) { return "x {$a->m()}"; }', "f -> A::m"),
    _case(
        "a chain",
        "class B { function g(): static { return $this; } }\nfunction f(B $b) { $b->g()->g(); }",
        "f -> B::g",
    ),
    _case("an unknown receiver", "function f($x) { $x->m(); }", never=("f -> A::m",)),
    _case("an outside receiver", "function f(\\DateTime $x) { $x->m(); }", never=("f -> A::m",)),
    _case(
        "variables of the file are not those of functions",
        "$a = new A;\nfunction f() { $a->m(); }",
        "a.php -> A",
        never=("f -> A::m",),
    ),
    _case("builtins", "function f() { strlen(''); }", "f -> <builtin>.strlen [external]"),
    _case(
        "an unnamed class",
        "function f() { (new class extends A {})->m(); }",
        "f -> f::<lambda1>",
        "f -> A::m",
    ),
    Case(
        "namespaces, use, aliases, groups, functions",
        {
            "a.php": "<?php\nnamespace App;\nuse Lib\\One as Uno;\nuse Lib\\{Two, Three as Tres};\n"
            "use function Lib\\run;\nfunction f(Uno $a, Two $b, Tres $c) {\n"
            "$a->m(); $b->m(); $c->m(); run(); \\Lib\\run(); top(); }\n",
            "b.php": "<?php\nnamespace Lib;\nclass One { function m() {} }\n"
            "class Two { function m() {} }\nclass Three { function m() {} }\nfunction run() {}\n",
            "c.php": "<?php\nfunction top() {}\nfunction run() {}\n",
        },
        (
            "App\\f -> Lib\\One::m",
            "App\\f -> Lib\\Two::m",
            "App\\f -> Lib\\Three::m",
            "App\\f -> Lib\\run",
            "App\\f -> top",
        ),
        exact=True,
    ),
    Case(
        "a class of the own namespace, not of another",
        {
            "a.php": "<?php\nnamespace N;\nfunction f(A $a) { $a->m(); }\n",
            "b.php": "<?php\nnamespace N;\nclass A { function m() {} }\n",
            "c.php": "<?php\nclass A { function m() {} }\n",
        },
        ("N\\f -> N\\A::m",),
        exact=True,
    ),
    Case(
        "namespaces with braces",
        {"a.php": "<?php\nnamespace N { function g() {} }\nnamespace M { \\N\\g(); }\n"},
        ("a.php -> N\\g",),
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    "text",
    ["<?php f" + "(" * 10_000, "<?php " + "{" * 10_000, "<?php class", "<?php use ; [$a, ] = ;"],
    ids=["brackets", "blocks", "cut off", "empty"],
)
def test_hostile(text: str) -> None:
    check(Case("hostile", {"a.php": text}))
