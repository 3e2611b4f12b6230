"""Values of Python: containers, callbacks, hints, generators, operators, syntax that calls."""

import pytest
from cases import Case, check

CASES = [
    Case(
        "functions in lists, tuples and dicts, by index and key",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            def f(n):
                [a, b][0]()
                pair = (a, b)
                pair[1]()
                table = {"a": a, "b": b}
                table["b"]()
                table[n]()
            """
        },
        (
            "app.f -> app.a :7",
            "app.f -> app.b :9",
            "app.f -> app.b :11",
            "app.f -> app.a :12",
            "app.f -> app.b :12",
        ),
        exact=True,
    ),
    Case(
        "looping over functions",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            HOOKS = [a, b]
            NAMED = {"x": a}

            def f():
                for hook in HOOKS:
                    hook()

            def g():
                for hook in HOOKS:
                    pass
                for name, hook in NAMED.items():
                    hook()

            def h():
                for n, hook in enumerate(HOOKS):
                    hook()
            """
        },
        (
            "app.f -> app.a :11",
            "app.f -> app.b :11",
            "app.g -> app.a :17",
            "app.h -> app.a :21",
            "app.h -> app.b :21",
        ),
        exact=True,
    ),
    Case(
        "a list keeps what is appended",
        {
            "app.py": """
            def a(): pass

            class Bus:
                def __init__(self):
                    self.handlers = []
                    self.named = {}

                def on(self, name, fn):
                    self.handlers.append(fn)
                    self.named[name] = fn

                def fire(self):
                    for fn in self.handlers:
                        fn()
                    self.named.get("x")()

            bus = Bus()
            bus.on("x", a)
            """
        },
        ("app.Bus.fire -> app.a [inferred] :15", "app.Bus.fire -> app.a [inferred] :16"),
    ),
    Case(
        "unpacking",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            def c(): pass

            def pair():
                return a, b

            def f():
                x, (y, z) = a, (b, c)
                z()
                p, q = pair()
                q()
                first, *rest = a, b, c
                rest[1]()
                x, y = y, x
                x()
            """
        },
        (
            "app.f -> app.c :13",
            "app.f -> app.b :15",
            "app.f -> app.c :17",
            "app.f -> app.b :19",
            "app.f -> app.pair",
        ),
        exact=True,
    ),
    Case(
        "what a function returns is called",
        {
            "app.py": """
            def a(): pass

            def get():
                return a

            def f():
                get()()
            """
        },
        ("app.f -> app.get", "app.f -> app.a"),
        exact=True,
    ),
    Case(
        "a closure that is returned",
        {
            "app.py": """
            def make(fn):
                def inner():
                    fn()
                return inner

            def a(): pass

            run = make(a)
            run()
            """
        },
        ("app -> app.make", "app -> app.make.inner", "app.make.inner -> app.a [inferred]"),
        exact=True,
    ),
    Case(
        "callbacks by position, keyword, default, star",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            def c(): pass

            def d(): pass

            def f(x, y=b, *more, z=None, **named):
                x()
                y()
                z()
                more[0]()
                named["k"]()

            f(a, b, d, z=c, k=d)
            """
        },
        (
            "app.f -> app.a [inferred]",
            "app.f -> app.b [resolved]",
            "app.f -> app.c [inferred]",
            "app.f -> app.d [inferred] :14",
            "app.f -> app.d [inferred] :15",
            "app -> app.f",
        ),
        exact=True,
    ),
    Case(
        "arguments that are spread",
        {
            "app.py": """
            def a(): pass

            def f(x, y=None):
                x()
                y()

            f(*[a])
            f(a, **{"y": a})
            """
        },
        ("app.f -> app.a [inferred] :5", "app.f -> app.a [inferred] :6"),
    ),
    Case(
        "a partial function is the function",
        {
            "app.py": """
            from functools import partial

            def a(x): pass

            def f():
                g = partial(a, 1)
                g()
            """
        },
        ("app.f -> app.a :8", "app.f -> functools.partial [external]"),
        exact=True,
    ),
    Case(
        "built-in functions that run what they are given",
        {
            "app.py": """
            from functools import reduce

            def a(x): pass

            def key(x): pass

            def f(xs):
                list(map(a, xs))
                filter(a, xs)
                sorted(xs, key=key)
                max(xs, key=lambda x: x)
                xs2 = [1]
                xs2.sort(key=key)
                reduce(a, xs)
            """
        },
        (
            "app.f -> app.a :9",
            "app.f -> app.a :10",
            "app.f -> app.key :11",
            "app.f -> app.f.<lambda1>",
            "app.f -> app.key :14",
            "app.f -> app.a :15",
        ),
        exact=True,
    ),
    Case(
        "a thread runs its target",
        {
            "app.py": """
            import threading

            def work(): pass

            def f():
                threading.Thread(target=work).start()
            """
        },
        ("app.f -> app.work [dispatch]", "app.f -> threading.Thread [external]"),
        exact=True,
    ),
    Case(
        "map gives what the function gives",
        {
            "app.py": """
            class C:
                def m(self): pass

            def make(x):
                return C()

            def f(xs):
                for c in map(make, xs):
                    c.m()
                for d in map(C, xs):
                    d.m()
            """
        },
        ("app.f -> app.C.m :10", "app.f -> app.C.m :12", "app.f -> app.make"),
    ),
    Case(
        "hints of parameters, results and variables",
        {
            "app.py": """
            from typing import Dict, List, Optional, Union

            class A:
                def m(self): pass

            class B:
                def m(self): pass

            def get() -> "Optional[A]": ...

            def f(a: A, b: Optional[B], c: Union[A, B], d: List[A], e: Dict[str, B], g: "A | None"):
                a.m()
                b.m()
                c.m()
                d[0].m()
                e["x"].m()
                g.m()
                get().m()
                for x in d:
                    x.m()
                for y in e.values():
                    y.m()
                z: B = unknown()
                z.m()
            """
        },
        (
            "app.f -> app.A.m :13",
            "app.f -> app.B.m :14",
            "app.f -> app.A.m :15",
            "app.f -> app.B.m :15",
            "app.f -> app.A.m :16",
            "app.f -> app.B.m :17",
            "app.f -> app.A.m :18",
            "app.f -> app.A.m :19",
            "app.f -> app.A.m :21",
            "app.f -> app.B.m :23",
            "app.f -> app.B.m :25",
        ),
    ),
    Case(
        "hints of new style: list, dict, tuple, callable, type, Self",
        {
            "app.py": """
            from collections.abc import Callable, Iterator
            from typing import Self

            class A:
                def m(self): pass

                def chain(self) -> Self:
                    return self

            def f(a: list[A], b: tuple[int, A], c: Callable[[], A], d: type[A], e: Iterator[A]):
                a[0].m()
                b[1].m()
                c().m()
                d().m()
                next(e).m()
                d().chain().chain().m()
            """
        },
        tuple(f"app.f -> app.A.m :{line}" for line in range(12, 18)),
    ),
    Case(
        "generics: a type variable, a generic class",
        {
            "app.py": """
            from typing import Generic, TypeVar

            T = TypeVar("T")

            class A:
                def m(self): pass

            class Box(Generic[T]):
                def get(self) -> T: ...

            def first(xs: list[T]) -> T: ...

            def same(x: T) -> T:
                return x

            def f(box: Box[A]):
                box.get().m()
                first([A()]).m()
                same(A()).m()
            """
        },
        ("app.f -> app.A.m :18", "app.f -> app.A.m :19", "app.f -> app.A.m :20"),
    ),
    Case(
        "an isinstance test narrows",
        {
            "app.py": """
            class A:
                def m(self): pass

            class B:
                def m(self): pass

            def f(x):
                if isinstance(x, A):
                    x.m()
                elif isinstance(x, B):
                    x.m()
                else:
                    x.m()

            def g(x):
                if not isinstance(x, (A, B)):
                    return
                x.m()

            def h(x):
                return isinstance(x, A) and x.m()
            """
        },
        (
            "app.f -> app.A.m :10",
            "app.f -> app.B.m :12",
            "app.g -> app.A.m :19",
            "app.g -> app.B.m :19",
            "app.h -> app.A.m",
        ),
        exact=True,
    ),
    Case(
        "match narrows and takes apart",
        {
            "app.py": """
            class A:
                def m(self): pass

            class B:
                part: A

            def f(x):
                match x:
                    case A():
                        x.m()
                    case B(part=p):
                        p.m()
                    case [A() as q, *_]:
                        q.m()
                    case _:
                        x.m()
            """
        },
        ("app.f -> app.A.m :11", "app.f -> app.A.m :13", "app.f -> app.A.m :15"),
        exact=True,
    ),
    Case(
        "generators give what they yield",
        {
            "app.py": """
            class C:
                def m(self): pass

            def gen():
                yield C()

            def more():
                yield from gen()

            def f():
                for c in gen():
                    c.m()
                for d in more():
                    d.m()
                next(gen()).m()
                [e.m() for e in list(gen())]
            """
        },
        tuple(f"app.f -> app.C.m :{line}" for line in (13, 15, 16, 17)),
    ),
    Case(
        "async functions and what awaiting gives",
        {
            "app.py": """
            import asyncio

            class C:
                async def m(self): pass

            async def make() -> C:
                return C()

            async def f():
                c = await make()
                await c.m()
                d = await asyncio.wait_for(make(), 1)
                await d.m()
            """
        },
        ("app.f -> app.C.m :12", "app.f -> app.C.m :14", "app.f -> app.make :11"),
    ),
    Case(
        "with calls __enter__ and __exit__",
        {
            "app.py": """
            class M:
                def __enter__(self):
                    return self

                def __exit__(self, *args): pass

                def go(self): pass

            def f():
                with M() as m:
                    m.go()
            """
        },
        (
            "app.f -> app.M",
            "app.f -> app.M.__enter__",
            "app.f -> app.M.__exit__",
            "app.f -> app.M.go",
        ),
        exact=True,
    ),
    Case(
        "a generator as a context manager",
        {
            "app.py": """
            from contextlib import contextmanager

            class C:
                def go(self): pass

            @contextmanager
            def opened():
                yield C()

            def f():
                with opened() as c:
                    c.go()
            """
        },
        ("app.f -> app.opened", "app.f -> app.C.go", "app.opened -> app.C"),
        exact=True,
    ),
    Case(
        "async with and async for",
        {
            "app.py": """
            class S:
                async def __aenter__(self):
                    return self

                async def __aexit__(self, *args): pass

                def __aiter__(self):
                    return self

                async def __anext__(self):
                    return S()

                def go(self): pass

            async def f():
                async with S() as s:
                    async for x in s:
                        x.go()
            """
        },
        (
            "app.f -> app.S.__aenter__",
            "app.f -> app.S.__aexit__",
            "app.f -> app.S.__aiter__",
            "app.f -> app.S.__anext__",
            "app.f -> app.S.go",
        ),
    ),
    Case(
        "for calls __iter__ and __next__",
        {
            "app.py": """
            class C:
                def __iter__(self):
                    return self

                def __next__(self):
                    return C()

                def m(self): pass

            def f():
                for c in C():
                    c.m()
            """
        },
        (
            "app.f -> app.C :12",
            "app.f -> app.C.__iter__",
            "app.f -> app.C.__next__",
            "app.f -> app.C.m",
            "app.C.__next__ -> app.C",
        ),
        exact=True,
    ),
    Case(
        "operators call the methods of objects",
        {
            "app.py": """
            class V:
                def __add__(self, o):
                    return self

                def __eq__(self, o): pass

                def __getitem__(self, k):
                    return self

                def __setitem__(self, k, v): pass

                def __contains__(self, k): pass

                def __neg__(self): pass

                def m(self): pass

            def f(v: V):
                (v + v).m()
                v == v
                v[0].m()
                v[1] = 2
                3 in v
                -v
                1 + 2
            """
        },
        (
            "app.f -> app.V.__add__",
            "app.f -> app.V.m",
            "app.f -> app.V.__eq__",
            "app.f -> app.V.__getitem__",
            "app.f -> app.V.__setitem__",
            "app.f -> app.V.__contains__",
            "app.f -> app.V.__neg__",
        ),
        exact=True,
    ),
    Case(
        "built-in functions call the methods of objects",
        {
            "app.py": """
            class C:
                def __str__(self): pass

                def __len__(self): pass

                def __iter__(self):
                    yield 1

            class R:
                def __repr__(self): pass

            def f(c: C, r: R):
                str(c)
                len(c)
                list(c)
                f"{c} {r!r}"
                str(r)
            """
        },
        (
            "app.f -> app.C.__str__ :14",
            "app.f -> app.C.__len__ :15",
            "app.f -> app.C.__iter__ :16",
            "app.f -> app.C.__str__ :17",
            "app.f -> app.R.__repr__ :17",
            "app.f -> app.R.__repr__ :18",
            "app.f -> <builtin>.len [external]",
        ),
        exact=True,
    ),
    Case(
        "implicit calls of unknown objects are no sites",
        {"app.py": "class C:\n    def __add__(self, o): pass\n\ndef f(a, b):\n    return a + b\n"},
        exact=True,
    ),
    Case(
        "getattr and setattr with a constant name",
        {
            "app.py": """
            class C:
                def m(self): pass

            def a(): pass

            def f(c: C):
                getattr(c, "m")()
                setattr(c, "hook", a)
                c.hook()
            """
        },
        ("app.f -> app.C.m :8", "app.f -> app.a :10"),
        exact=True,
    ),
    Case(
        "an attribute of an object that something else sets",
        {
            "app.py": """
            class C:
                pass

            def a(): pass

            c = C()
            c.hook = a
            c.hook()
            """
        },
        ("app -> app.a",),
    ),
    Case(
        "conditional values",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            def f(n):
                (a if n else b)()
                g = n or a
                g()
            """
        },
        ("app.f -> app.a :7", "app.f -> app.b :7", "app.f -> app.a :9"),
        exact=True,
    ),
    Case(
        "chained assignments and calls",
        {
            "app.py": """
            class B:
                def add(self):
                    return self

                def build(self): pass

            def f():
                x = y = B()
                y.add().add(
                ).build()
            """
        },
        ("app.f -> app.B", "app.f -> app.B.add :10", "app.f -> app.B.build :11"),
        exact=True,
    ),
    Case(
        "methods of built-in types are named by the type",
        {
            "app.py": """
            def f():
                " ".join([]).upper()
                {}.items()
                [].append(1)
                b"".decode()
            """
        },
        (
            "app.f -> <builtin>.str.join [external]",
            "app.f -> <builtin>.str.upper [external]",
            "app.f -> <builtin>.dict.items [external]",
            "app.f -> <builtin>.list.append [external]",
            "app.f -> <builtin>.bytes.decode [external]",
        ),
    ),
    Case(
        "iterating over a dictionary gives its keys",
        {
            "app.py": """
            class K:
                def m(self): pass

            class V:
                def m(self): pass

            def f(d: dict[K, V], **named: V):
                for k in d:
                    k.m()

            def g(**named: V):
                for name in named:
                    name.m()
                for value in named.values():
                    value.m()
            """
        },
        ("app.f -> app.K.m", "app.g -> app.V.m :16"),
        never=("app.f -> app.V.m",),
        exact=True,
    ),
    Case(
        "a dictionary of classes",
        {
            "app.py": """
            class A:
                def run(self): pass

            class B:
                def run(self): pass

            KINDS = {"a": A, "b": B}

            def f(kind):
                KINDS[kind]().run()
            """
        },
        ("app.f -> app.A.run", "app.f -> app.B.run", "app.f -> app.A", "app.f -> app.B"),
        exact=True,
    ),
    Case(
        "a value of an outside call is not an object of here",
        {
            "app.py": """
            import json

            class Reader:
                def read(self): pass

            def f(path):
                with open(path) as stream:
                    stream.read()
                json.load(1).read()
            """
        },
        never=("app.f -> app.Reader.read",),
        exact=True,
    ),
    Case(
        "what is put into a container in a straight line replaces what was there",
        {
            "app.py": """
            def a(): pass

            def b(): pass

            def f():
                table = {"x": a, 1: a, "1": b}
                table["x"] = b
                table["x"]()
                table["1"]()
                items = [a]
                items.append(b)
                items[1]()
                deep = {"k": {"x": a}}
                deep["k"]["x"] = b
                deep["k"]["x"]()

            def g(n):
                table = {"x": a}
                if n:
                    table["x"] = b
                table["x"]()
            """
        },
        (
            "app.f -> app.b :9",
            "app.f -> app.b :10",
            "app.f -> app.b :13",
            "app.f -> app.b :16",
            "app.g -> app.a",
            "app.g -> app.b",
        ),
        never=("app.f -> app.a",),
        exact=True,
    ),
    Case(
        "a function that gives back its argument gives each call its own",
        {
            "app.py": """
            class A:
                def m(self): pass

            class B:
                def m(self): pass

            def same(x, y=None):
                return x or y

            def f():
                same(A()).m()

            def g():
                same(None, y=B()).m()
            """
        },
        ("app.f -> app.A.m", "app.g -> app.B.m", "app.f -> app.A", "app.g -> app.B"),
        never=("app.f -> app.B.m", "app.g -> app.A.m"),
    ),
    Case(
        "a decorator that gives back the function tells its functions apart",
        {
            "app.py": """
            REGISTRY = []

            def register(fn):
                REGISTRY.append(fn)
                return fn

            @register
            def a(): pass

            @register
            def b(): pass

            def f():
                a()
            """
        },
        ("app.f -> app.a", "app -> app.register :8", "app -> app.register :11"),
        never=("app.f -> app.b",),
        exact=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_values(case: Case) -> None:
    check(case)
