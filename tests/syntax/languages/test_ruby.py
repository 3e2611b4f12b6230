"""Ruby: what its calls resolve to, and what they must not."""

import pytest
from cases import Case, check

CASES = (
    Case(
        "a method of the file",
        {"a.rb": "def f\n  g\nend\ndef g; end\n"},
        ("f -> g :2",),
        exact=True,
    ),
    Case(
        "a method of another file",
        {"a.rb": "require_relative 'b'\nf(1)\n", "b.rb": "def f(x); end\n"},
        ("a -> f :2", "a -> <builtin>.require_relative [external]"),
        exact=True,
    ),
    Case(
        "a local variable is no call",
        {"a.rb": "def g; end\ndef f\n  g = 1\n  g\nend\n"},
        exact=True,
    ),
    Case("a parameter is no call", {"a.rb": "def g; end\ndef f(g)\n  g\nend\n"}, exact=True),
    Case(
        "methods of self",
        {
            "a.rb": """
                class A
                  def f
                    g
                    self.h
                    i()
                  end
                  def g; end
                  def h; end
                  def i; end
                end
                class B
                  def g; end
                end
            """
        },
        ("A.f -> A.g [resolved] :4", "A.f -> A.h [resolved] :5", "A.f -> A.i [resolved] :6"),
        exact=True,
    ),
    Case(
        "new runs initialize",
        {"a.rb": "class A\n  def initialize(x); end\nend\ndef f\n  A.new(1)\nend\n"},
        ("f -> A.initialize [resolved] :5",),
        exact=True,
    ),
    Case(
        "new of a class without initialize is the class",
        {"a.rb": "class A\n  def m; end\nend\ndef f\n  A.new.m\nend\n"},
        ("f -> A", "f -> A.m"),
        exact=True,
    ),
    Case(
        "an inherited initialize",
        {"a.rb": "class A\n  def initialize; end\nend\nclass B < A; end\nB.new\n"},
        ("a -> A.initialize :5",),
        exact=True,
    ),
    Case(
        "class methods and methods of instances of one name",
        {
            "a.rb": """
                class A
                  def self.run
                    new.run
                  end
                  def run; end
                end
                A.run
            """
        },
        ("a -> A.run :8", "A.run -> A.run :4", "A.run -> A"),
        exact=True,
    ),
    Case(
        "class << self",
        {
            "a.rb": """
                class A
                  class << self
                    def one; two; end
                    def two; end
                  end
                end
                A.one
            """
        },
        ("a -> A.one", "A.one -> A.two"),
        exact=True,
    ),
    Case(
        "class methods are inherited",
        {
            "a.rb": "class A\n  def self.make; new; end\n  def initialize; end\nend\nclass B < A\nend\nB.make\n"
        },
        ("a -> A.make", "A.make -> A.initialize"),
        exact=True,
    ),
    Case(
        "constants are looked up from the innermost",
        {
            "a.rb": """
                class C; def m; end; end
                module A
                  class C; def m; end; end
                  class D
                    def f
                      C.new.m
                      ::C.new.m
                    end
                  end
                end
            """
        },
        ("A::D.f -> A::C.m :7", "A::D.f -> C.m :8", "A::D.f -> A::C", "A::D.f -> C"),
        exact=True,
    ),
    Case(
        "a path of constants",
        {
            "a.rb": "module A\n  module B\n    class C\n      def self.go; end\n    end\n  end\nend\n",
            "b.rb": "A::B::C.go\nmodule A\n  def self.f\n    B::C.go\n  end\nend\n",
        },
        ("b -> A::B::C.go", "A.f -> A::B::C.go"),
        exact=True,
    ),
    Case(
        "a class opened in two files is one",
        {
            "a.rb": "class A\n  def f; g; end\nend\n",
            "b.rb": "class A\n  def g; f; end\nend\n",
        },
        ("A.f -> A.g", "A.g -> A.f"),
        exact=True,
    ),
    Case(
        "a superclass that another opening says",
        {
            "a.rb": "class A\n  def f; up; end\nend\n",
            "b.rb": "class Base\n  def up; end\nend\nclass A < Base\nend\n",
        },
        ("A.f -> Base.up",),
        exact=True,
    ),
    Case(
        "a compact definition",
        {"a.rb": "module A; end\nclass A::B\n  def f; g; end\n  def g; end\nend\nA::B.new.f\n"},
        ("A::B.f -> A::B.g", "a -> A::B.f", "a -> A::B"),
        exact=True,
    ),
    Case(
        "super",
        {
            "a.rb": """
                class A
                  def initialize(x); end
                  def f(x); end
                end
                class B < A
                  def initialize(x)
                    super
                  end
                  def f(x)
                    super(x)
                  end
                end
            """
        },
        ("B.initialize -> A.initialize", "B.f -> A.f"),
        exact=True,
    ),
    Case(
        "a module that is mixed in",
        {
            "a.rb": """
                module M
                  def helped; end
                end
                class A
                  include M
                  def f; helped; end
                end
                A.new.helped
            """
        },
        ("A.f -> M.helped [resolved]", "a -> M.helped", "a -> A"),
        exact=True,
    ),
    Case(
        "the last mixed in comes first, before the superclass",
        {
            "a.rb": """
                module M; def x; end; end
                module N; def x; end; end
                class Base; def x; end; end
                class A < Base
                  include M
                  include N
                  def f; x; end
                end
            """
        },
        ("A.f -> N.x [resolved]",),
        exact=True,
    ),
    Case(
        "a mixed-in module calls what its classes define",
        {
            "a.rb": """
                module M
                  def template; step; end
                end
                class A
                  include M
                  def step; end
                end
            """
        },
        ("M.template -> A.step [dispatch]",),
        exact=True,
    ),
    Case(
        "an extended module gives methods to the class",
        {
            "a.rb": """
                module M
                  def declared(x); end
                end
                class A
                  extend M
                  declared :x
                end
                A.declared(1)
            """
        },
        ("a -> M.declared :7", "a -> M.declared :9"),
        exact=True,
    ),
    Case(
        "extend self and module_function",
        {
            "a.rb": """
                module M
                  extend self
                  def one; end
                end
                module N
                  module_function
                  def two; end
                end
                M.one
                N.two
            """
        },
        ("a -> M.one", "a -> N.two"),
    ),
    Case(
        "an override dispatches",
        {
            "a.rb": """
                class A
                  def f; step; end
                  def step; end
                end
                class B < A
                  def step; end
                end
            """
        },
        ("A.f -> A.step [resolved]", "A.f -> B.step [dispatch]"),
        exact=True,
    ),
    Case(
        "instance variables keep what was assigned",
        {
            "a.rb": """
                class Engine; def go; end; end
                class Car
                  def initialize
                    @engine = Engine.new
                  end
                  def drive
                    @engine.go
                  end
                end
            """
        },
        ("Car.drive -> Engine.go [resolved]", "Car.initialize -> Engine"),
        exact=True,
    ),
    Case(
        "attr_reader is a method",
        {
            "a.rb": """
                class Engine; def go; end; end
                class Car
                  attr_reader :engine
                  def initialize; @engine = Engine.new; end
                  def drive; engine.go; end
                end
                Car.new.engine.go
            """
        },
        ("Car.drive -> Car.engine", "Car.drive -> Engine.go", "a -> Car.engine", "a -> Engine.go"),
    ),
    Case(
        "writers",
        {"a.rb": "class A\n  def x=(v); end\n  def f; self.x = 1; end\nend\nA.new.x = 2\n"},
        ("A.f -> A.x=", "a -> A.x=", "a -> A"),
        exact=True,
    ),
    Case(
        "what a method returns",
        {
            "a.rb": """
                class A; def m; end; end
                def make
                  A.new
                end
                def f(x)
                  if x then make.m else nil end
                  y = make
                  y.m
                end
            """
        },
        ("f -> make :7", "f -> A.m :7", "f -> A.m :9", "make -> A"),
        exact=True,
    ),
    Case(
        "an argument reaches the parameter",
        {"a.rb": "class A; def m; end; end\ndef f(x)\n  x.m\nend\nf(A.new)\n"},
        ("f -> A.m [inferred]", "a -> f", "a -> A"),
        exact=True,
    ),
    Case(
        "a block is called where it is yielded to",
        {
            "a.rb": """
                def each_one
                  yield 1
                end
                def g(x); end
                def f
                  each_one { |x| g(x) }
                end
            """
        },
        ("f -> each_one", "f.<lambda1> -> g", "each_one -> f.<lambda1> [inferred]"),
        exact=True,
    ),
    Case(
        "an explicit block",
        {
            "a.rb": """
                def run(&blk)
                  blk.call(1)
                end
                def g; end
                run { g }
            """
        },
        ("a -> run", "a.<lambda1> -> g"),
    ),
    Case(
        "items of a list",
        {
            "a.rb": """
                class A; def m; end; end
                def f
                  all = [A.new, A.new]
                  all.each { |a| a.m }
                  all.map(&:m)
                  all.first.m
                  all[0].m
                  for a in all
                    a.m
                  end
                end
            """
        },
        ("f.<lambda1> -> A.m :5", "f -> A.m :6", "f -> A.m :7", "f -> A.m :8", "f -> A.m :10"),
    ),
    Case(
        "lambdas",
        {"a.rb": "def g; end\ndef f\n  l = ->(x) { g }\n  l.call(1)\nend\n"},
        ("f.<lambda1> -> g",),
        exact=True,
    ),
    Case(
        "send with a symbol",
        {
            "a.rb": "class A\n  def f; send(:g); public_send('h', 1); end\n  def g; end\n  def h(x); end\nend\n"
        },
        ("A.f -> A.g", "A.f -> A.h"),
        exact=True,
    ),
    Case(
        "aliases call what they stand for",
        {
            "a.rb": "class A\n  def m; end\n  alias n m\n  alias_method :k, :m\nend\nA.new.n\nA.new.k\n"
        },
        ("a -> A.n", "a -> A.k", "A.n -> A.m", "A.k -> A.m", "a -> A"),
        exact=True,
    ),
    Case(
        "define_method",
        {"a.rb": "class A\n  define_method(:d) { |x| m }\n  def m; end\nend\nA.new.d(1)\n"},
        ("A.d -> A.m", "a -> A.d", "a -> A"),
        exact=True,
    ),
    Case(
        "definitions behind visibility",
        {"a.rb": "class A\n  private def f; g; end\n  private\n  def g; end\nend\n"},
        ("A.f -> A.g",),
        exact=True,
    ),
    Case(
        "a struct with methods",
        {
            "a.rb": """
                Point = Struct.new(:x, :y) do
                  def far; near; end
                  def near; x; end
                end
                Point.new(1, 2).far
            """
        },
        ("a -> Point.far", "Point.far -> Point.near", "Point.near -> Point.x", "a -> Point"),
        exact=True,
    ),
    Case(
        "constants that hold objects",
        {
            "a.rb": "class A; def m; end; end\nmodule B\n  ONE = A.new\n  def self.f; ONE.m; end\nend\nB::ONE.m\n"
        },
        ("B.f -> A.m", "a -> A.m", "a -> A"),
        exact=True,
    ),
    Case(
        "memoised values",
        {
            "a.rb": """
                class A; def m; end; end
                class B
                  def a
                    @a ||= A.new
                  end
                  def f; a.m; end
                end
            """
        },
        ("B.f -> B.a", "B.f -> A.m", "B.a -> A"),
        exact=True,
    ),
    Case(
        "an external receiver never reaches a method of that name",
        {
            "a.rb": """
                class Own
                  def parse(x); end
                  def puts(x); end
                end
                def f
                  JSON.parse("x")
                  [].append(1)
                  $stdout.puts 1
                end
                def append(x); end
                def parse(x); end
            """
        },
        ("f -> JSON.parse [external]",),
        never=("* -> Own.parse", "* -> append", "* -> parse", "* -> Own.puts"),
        exact=True,
    ),
    Case(
        "a method of an external superclass",
        {"a.rb": "class A < ActiveRecord::Base\n  def f; save; g; end\n  def g; end\nend\n"},
        ("A.f -> ActiveRecord.Base.save [external]", "A.f -> A.g [resolved]"),
        exact=True,
    ),
    Case(
        "operators of own classes",
        {
            "a.rb": "class V\n  def +(o); self; end\n  def ==(o); end\nend\nv = V.new\nv + v\nv == v\n1 + 1\n"
        },
        ("a -> V.+", "a -> V.==", "a -> V"),
        exact=True,
    ),
    Case(
        "rescued errors",
        {
            "a.rb": """
                class Oops < StandardError
                  def told; end
                end
                def f
                  g
                rescue Oops => e
                  e.told
                ensure
                  h
                end
                def g; end
                def h; end
            """
        },
        ("f -> g", "f -> Oops.told", "f -> h"),
        exact=True,
    ),
    Case(
        "interpolated calls",
        {
            "a.rb": 'class A\n  def to_s; "x"; end\nend\ndef g; end\ndef f(a)\n  x = A.new\n  "#{g} #{x}"\nend\n'
        },
        ("f -> g", "f -> A.to_s", "f -> A"),
        exact=True,
    ),
    Case(
        "self.class and a class in a variable",
        {
            "a.rb": """
                class A
                  def self.make; end
                  def f; self.class.make; end
                end
                k = A
                k.make
                k.new.f
            """
        },
        ("A.f -> A.make", "a -> A.make :7", "a -> A.f :8"),
    ),
    Case(
        "safe navigation and chains keep their lines",
        {
            "a.rb": """
                class A
                  def one; self; end
                  def two; self; end
                end
                A.new
                  .one
                  &.two
            """
        },
        ("a -> A.one :7", "a -> A.two :8", "a -> A :6"),
        exact=True,
    ),
    Case(
        "namesakes in modules are apart",
        {
            "a.rb": """
                module A; class W; def go; end; end; end
                module B; class W; def go; end; end; end
                A::W.new.go
            """
        },
        ("a -> A::W.go", "a -> A::W"),
        never=("* -> B::W.go",),
        exact=True,
    ),
    Case(
        "unknown names have no edge",
        {"a.rb": "class A; def m; end; end\ndef f(x)\n  x.m\n  missing\nend\n"},
        exact=True,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_calls(case: Case) -> None:
    check(case)
