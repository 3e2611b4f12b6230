"""Classes of Python: receivers, inheritance, constructors, properties, decorators."""

import pytest
from cases import Case, check

CASES = [
    Case(
        "a class without a constructor is what calling it calls",
        {"app.py": "class C:\n    def m(self): pass\n\nc = C()\nc.m()\n"},
        ("app -> app.C", "app -> app.C.m"),
        exact=True,
    ),
    Case(
        "a constructor is found in the bases",
        {
            "app.py": """
            class A:
                def __init__(self):
                    self.setup()

                def setup(self):
                    pass

            class B(A):
                pass

            def f():
                B()
            """
        },
        ("app.f -> app.A.__init__", "app.A.__init__ -> app.A.setup"),
        exact=True,
    ),
    Case(
        "__new__ runs beside __init__",
        {
            "app.py": """
            class C:
                def __new__(cls):
                    return super().__new__(cls)

                def __init__(self):
                    pass

            C()
            """
        },
        ("app -> app.C.__new__", "app -> app.C.__init__"),
        exact=True,
    ),
    Case(
        "self calls the own method, overrides are dispatch",
        {
            "app.py": """
            class A:
                def run(self):
                    self.step()

                def step(self):
                    pass

            class B(A):
                def step(self):
                    pass
            """
        },
        ("app.A.run -> app.A.step [resolved]", "app.A.run -> app.B.step [dispatch]"),
        exact=True,
    ),
    Case(
        "the order of bases is C3",
        {
            "app.py": """
            class A:
                def f(self): pass

            class B(A):
                pass

            class C(A):
                def f(self): pass

            class D(B, C):
                pass

            D().f()
            """
        },
        ("app -> app.C.f", "app -> app.D"),
        exact=True,
    ),
    Case(
        "super goes on after the class it stands in",
        {
            "app.py": """
            class A:
                def f(self): pass

            class B(A):
                def f(self):
                    super().f()

            class C(B):
                def f(self):
                    super(C, self).f()
            """
        },
        ("app.B.f -> app.A.f", "app.C.f -> app.B.f"),
        never=("app.B.f -> app.B.f", "app.C.f -> app.A.f"),
        exact=True,
    ),
    Case(
        "super in a mixin runs the sibling",
        {
            "app.py": """
            class Mixin:
                def save(self):
                    super().save()

            class Base:
                def save(self): pass

            class Model(Mixin, Base):
                pass

            Model().save()
            """
        },
        ("app.Mixin.save -> app.Base.save [dispatch]", "app -> app.Mixin.save", "app -> app.Model"),
        exact=True,
    ),
    Case(
        "a mixin calls what the class that it is mixed into has",
        {
            "app.py": """
            class Mixin:
                def go(self):
                    self.render()

            class View(Mixin):
                def render(self): pass
            """
        },
        ("app.Mixin.go -> app.View.render [dispatch]",),
        exact=True,
    ),
    Case(
        "a bound method keeps its object",
        {
            "app.py": """
            class C:
                def m(self, cb):
                    cb()

                def n(self): pass

            c = C()
            f = c.m
            f(c.n)
            """
        },
        ("app -> app.C", "app -> app.C.m", "app.C.m -> app.C.n [inferred]"),
        exact=True,
    ),
    Case(
        "static and class methods",
        {
            "app.py": """
            class C:
                @staticmethod
                def s(): pass

                @classmethod
                def make(cls):
                    cls.s()
                    return cls()

                def m(self): pass

            class D(C):
                def m(self): pass

            C.s()
            C.make().m()
            """
        },
        (
            "app -> app.C.s",
            "app -> app.C.make",
            "app.C.make -> app.C.s",
            "app.C.make -> app.C",
            "app -> app.C.m [resolved]",
            "app -> app.D.m [dispatch]",
        ),
        exact=True,
    ),
    Case(
        "cls dispatches to the classes below",
        {
            "app.py": """
            class A:
                @classmethod
                def build(cls):
                    cls.check()
                    return cls(1)

                @classmethod
                def check(cls): pass

                def __init__(self, n): pass

            class B(A):
                @classmethod
                def check(cls): pass

                def __init__(self, n): pass
            """
        },
        (
            "app.A.build -> app.A.check [resolved]",
            "app.A.build -> app.B.check [dispatch]",
            "app.A.build -> app.A.__init__ [resolved]",
            "app.A.build -> app.B.__init__ [dispatch]",
        ),
        exact=True,
    ),
    Case(
        "type(self)() and self.__class__() make an object of the class",
        {
            "app.py": """
            class C:
                def a(self):
                    return type(self)()

                def b(self):
                    return self.__class__()

                def m(self): pass

            C().a().m()
            C().b().m()
            """
        },
        ("app.C.a -> app.C", "app.C.b -> app.C", "app -> app.C.m :11", "app -> app.C.m :12"),
    ),
    Case(
        "attributes that __init__ sets",
        {
            "app.py": """
            class Engine:
                def start(self): pass

            class Car:
                def __init__(self, spare: Engine):
                    self.engine = Engine()
                    self.spare = spare

                def go(self):
                    self.engine.start()
                    self.spare.start()
            """
        },
        (
            "app.Car.__init__ -> app.Engine",
            "app.Car.go -> app.Engine.start :11",
            "app.Car.go -> app.Engine.start :12",
        ),
        exact=True,
    ),
    Case(
        "an attribute that another method or a base sets",
        {
            "app.py": """
            class Log:
                def write(self): pass

            class Base:
                def open(self):
                    self.log = Log()

            class Sub(Base):
                def run(self):
                    self.log.write()
            """
        },
        ("app.Sub.run -> app.Log.write", "app.Base.open -> app.Log"),
        exact=True,
    ),
    Case(
        "a base and a class below it both set an attribute",
        {
            "app.py": """
            class One:
                def go(self): pass

            class Two:
                def go(self): pass

            class Base:
                def start(self):
                    self.part = One()

            class Sub(Base):
                def change(self):
                    self.part = Two()

                def run(self):
                    self.part.go()
            """
        },
        (
            "app.Sub.run -> app.One.go",
            "app.Sub.run -> app.Two.go",
            "app.Base.start -> app.One",
            "app.Sub.change -> app.Two",
        ),
        exact=True,
    ),
    Case(
        "attributes of the class and declared ones",
        {
            "app.py": """
            class Q:
                def all(self): pass

            class Model:
                objects = Q()
                other: Q

                def f(self):
                    self.objects.all()
                    self.other.all()

            Model.objects.all()
            """
        },
        ("app.Model.f -> app.Q.all :10", "app.Model.f -> app.Q.all :11", "app -> app.Q.all"),
    ),
    Case(
        "reading a property runs it, writing it runs the setter",
        {
            "app.py": """
            class Item:
                def name(self): pass

            class C:
                @property
                def item(self):
                    return Item()

                @item.setter
                def item(self, value):
                    check(value)

            def check(value): pass

            def f(c: C):
                c.item.name()
                x = c.item
                x.name()
                c.item = 1
            """
        },
        (
            "app.f -> app.C.item :17",
            "app.f -> app.C.item :18",
            "app.f -> app.Item.name :17",
            "app.f -> app.Item.name :19",
            "app.f -> app.C.item :20",
            "app.C.item -> app.Item",
            "app.C.item -> app.check",
        ),
        exact=True,
    ),
    Case(
        "a cached property is a property",
        {
            "app.py": """
            from functools import cached_property

            class R:
                def go(self): pass

            class C:
                @cached_property
                def r(self):
                    return R()

                def f(self):
                    self.r.go()
            """
        },
        ("app.C.f -> app.C.r", "app.C.f -> app.R.go", "app.C.r -> app.R"),
        exact=True,
    ),
    Case(
        "an overridden property is dispatch",
        {
            "app.py": """
            class A:
                @property
                def p(self): pass

                def f(self):
                    return self.p

            class B(A):
                @property
                def p(self): pass
            """
        },
        ("app.A.f -> app.A.p [resolved]", "app.A.f -> app.B.p [dispatch]"),
        exact=True,
    ),
    Case(
        "a decorated function keeps its edge, the wrapper is extra",
        {
            "app.py": """
            import functools

            def deco(fn):
                @functools.wraps(fn)
                def wrapper(*args):
                    return fn(*args)
                return wrapper

            @deco
            def f(): pass

            def g():
                f()
            """
        },
        (
            "app.g -> app.f [resolved]",
            "app.g -> app.deco.wrapper",
            "app -> app.deco",
            "app.deco.wrapper -> app.f [inferred]",
        ),
        exact=True,
    ),
    Case(
        "a decorator factory and one on a method",
        {
            "app.py": """
            def route(path):
                def deco(fn):
                    return fn
                return deco

            class V:
                @route("/")
                def get(self): pass

                def head(self):
                    self.get()
            """
        },
        ("app -> app.route", "app -> app.route.deco", "app.V.head -> app.V.get"),
        exact=True,
    ),
    Case(
        "a decorator from outside is called, what it decorates is called under its name",
        {
            "app.py": """
            from functools import lru_cache
            import click

            @lru_cache(maxsize=None)
            def f(): pass

            @click.command()
            def g():
                f()
            """
        },
        ("app -> functools.lru_cache [external]", "app.g -> app.f [resolved]"),
        never=("app.g -> functools.lru_cache",),
    ),
    Case(
        "a class as a decorator",
        {
            "app.py": """
            class Task:
                def __init__(self, fn):
                    self.fn = fn

                def __call__(self):
                    return self.fn()

            @Task
            def work(): pass

            work()
            """
        },
        (
            "app -> app.Task.__init__",
            "app -> app.Task.__call__",
            "app -> app.work",
            "app.Task.__call__ -> app.work [inferred]",
        ),
        exact=True,
    ),
    Case(
        "calling an object runs __call__",
        {
            "app.py": """
            class F:
                def __call__(self): pass

            f = F()
            f()
            """
        },
        ("app -> app.F", "app -> app.F.__call__"),
        exact=True,
    ),
    Case(
        "an abstract method is dispatched",
        {
            "app.py": """
            from abc import ABC, abstractmethod

            class Shape(ABC):
                @abstractmethod
                def area(self): ...

            class Square(Shape):
                def area(self): pass

            def total(shape: Shape):
                shape.area()
            """
        },
        ("app.total -> app.Square.area [dispatch]", "app.total -> app.Shape.area [dispatch]"),
        exact=True,
    ),
    Case(
        "a protocol is what has its methods",
        {
            "app.py": """
            from typing import Protocol

            class Closer(Protocol):
                def close(self) -> None: ...

            class File:
                def close(self) -> None: pass

            class Door:
                def shut(self) -> None: pass

            def f(c: Closer):
                c.close()
            """
        },
        ("app.f -> app.File.close [dispatch]", "app.f -> app.Closer.close [dispatch]"),
        never=("app.f -> app.Door.shut",),
        exact=True,
    ),
    Case(
        "a data class, a named tuple and an enumeration have no constructor here",
        {
            "app.py": """
            from dataclasses import dataclass
            from enum import Enum
            from typing import NamedTuple

            @dataclass
            class D:
                x: int

                def m(self): pass

            class N(NamedTuple):
                x: int

                def m(self): pass

            class E(Enum):
                A = 1

                def m(self): pass

            def f():
                D(1).m()
                N(1).m()
                E.A.m()
            """
        },
        (
            "app.f -> app.D",
            "app.f -> app.D.m",
            "app.f -> app.N",
            "app.f -> app.N.m",
            "app.f -> app.E.m",
        ),
        exact=True,
    ),
    Case(
        "a method of a base outside is external, by the base's name",
        {
            "app.py": """
            import threading

            class T(threading.Thread):
                def run(self): pass

            def start(): pass

            def f():
                t = T()
                t.start()
                t.run()
            """
        },
        ("app.f -> threading.Thread.start [external]", "app.f -> app.T.run"),
        never=("app.f -> app.start",),
    ),
    Case(
        "a generic base that is built in",
        {
            "app.py": """
            class Items(list[int]):
                def __init__(self):
                    super().__init__()
                    self.append(1)
            """
        },
        (
            "app.Items.__init__ -> <builtin>.list.__init__ [external]",
            "app.Items.__init__ -> <builtin>.list.append [external]",
        ),
        exact=True,
    ),
    Case(
        "a list's method is not the module's function of the same name",
        {
            "app.py": """
            def append(x): pass

            class Q:
                def append(self, x): pass

            def f(items: list):
                items.append(1)
                [].append(2)
                append(3)
            """
        },
        ("app.f -> app.append :10", "app.f -> <builtin>.list.append [external] :8"),
        never=("app.f -> app.Q.append",),
        exact=True,
    ),
    Case(
        "a receiver of unknown type stays open",
        {
            "app.py": """
            class C:
                def close(self): pass

            def f(x):
                x.close()
            """
        },
        never=("app.f -> app.C.close",),
        exact=True,
    ),
    Case(
        "calls in a class's body are the module's",
        {
            "app.py": """
            def field(): pass

            class C:
                x = field()
            """
        },
        ("app -> app.field",),
        exact=True,
    ),
    Case(
        "calls in defaults and decorators are those of the scope around",
        {
            "app.py": """
            def make(): pass

            def deco(n):
                return lambda fn: fn

            def f(x=make()): pass

            @deco(make())
            def g(): pass
            """
        },
        ("app -> app.make :7", "app -> app.make :9", "app -> app.deco"),
        never=("app.f -> app.make", "app.g -> app.make"),
    ),
    Case(
        "methods called through the class",
        {
            "app.py": """
            class A:
                def __init__(self, x): pass
                def m(self): pass

            class B(A):
                def __init__(self):
                    A.__init__(self, 1)
                    A.m(self)
            """
        },
        ("app.B.__init__ -> app.A.__init__", "app.B.__init__ -> app.A.m"),
        exact=True,
    ),
    Case(
        "a nested class, by its name and through its outer one",
        {
            "app.py": """
            class A:
                class Meta:
                    def f(self): pass

            def g():
                A.Meta().f()
            """
        },
        ("app.g -> app.A.Meta", "app.g -> app.A.Meta.f"),
        exact=True,
    ),
    Case(
        "raise makes an exception",
        {
            "app.py": """
            class Bad(Exception):
                def __init__(self): pass

            def f():
                raise Bad

            def g():
                raise Bad()
            """
        },
        ("app.f -> app.Bad.__init__", "app.g -> app.Bad.__init__"),
        exact=True,
    ),
    Case(
        "an except clause names the class of what it catches",
        {
            "app.py": """
            class Bad(Exception):
                def why(self): pass

            def f():
                try:
                    pass
                except Bad as e:
                    e.why()
            """
        },
        ("app.f -> app.Bad.why",),
        exact=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_classes(case: Case) -> None:
    check(case)
