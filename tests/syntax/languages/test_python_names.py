"""Names, scopes and imports of Python: what a bare or dotted name calls."""

import pytest
from cases import Case, check

CASES = [
    Case(
        "module-level code calls in its own name",
        {"app.py": "def f():\n    pass\n\nf()\n"},
        ("app -> app.f :4",),
        exact=True,
    ),
    Case(
        "every site is an edge of its own line",
        {"app.py": "def f():\n    pass\n\ndef g():\n    f()\n    f()\n"},
        ("app.g -> app.f :5", "app.g -> app.f :6"),
        exact=True,
    ),
    Case(
        "a nested function is named by what it stands in",
        {"app.py": "def outer():\n    def inner():\n        pass\n    inner()\n"},
        ("app.outer -> app.outer.inner",),
        exact=True,
    ),
    Case(
        "a lambda is numbered in its scope and calls for itself",
        {
            "app.py": """
            def f():
                pass

            def g():
                h = lambda: f()
                h()
            """
        },
        ("app.g -> app.g.<lambda1>", "app.g.<lambda1> -> app.f"),
        exact=True,
    ),
    Case(
        "a class's names are not seen in its methods",
        {
            "app.py": """
            def run():
                pass

            class C:
                def run(self):
                    run()
            """
        },
        ("app.C.run -> app.run",),
        never=("app.C.run -> app.C.run",),
        exact=True,
    ),
    Case(
        "a local function hides the module's",
        {
            "app.py": """
            def f():
                pass

            def g():
                def f():
                    pass
                f()
            """
        },
        ("app.g -> app.g.f",),
        never=("app.g -> app.f",),
        exact=True,
    ),
    Case(
        "global binds in the module, nonlocal in the function around",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            hook = None

            def install():
                global hook
                hook = a

            def use():
                hook()

            def outer():
                inner_hook = None

                def change():
                    nonlocal inner_hook
                    inner_hook = b

                change()
                inner_hook()
            """
        },
        ("app.use -> app.a", "app.outer -> app.b", "app.outer -> app.outer.change"),
        exact=True,
    ),
    Case(
        "a name rebound in a straight line is what it was bound to last",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f():
                x = a
                x()
                x = b
                x()
            """
        },
        ("app.f -> app.a :10", "app.f -> app.b :12"),
        exact=True,
    ),
    Case(
        "after branches a name may be what either bound",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f(c):
                if c:
                    x = a
                    x()
                else:
                    x = b
                x()
            """
        },
        ("app.f -> app.a :11", "app.f -> app.a :14", "app.f -> app.b :14"),
        exact=True,
    ),
    Case(
        "a branch that returns does not reach what follows",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f(c):
                x = a
                if c:
                    x = b
                    return x()
                return x()
            """
        },
        ("app.f -> app.b :12", "app.f -> app.a :13"),
        exact=True,
    ),
    Case(
        "in a loop a name may be what the round before bound",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f(items):
                x = a
                for item in items:
                    x()
                    x = b
            """
        },
        ("app.f -> app.a :11", "app.f -> app.b :11"),
        exact=True,
    ),
    Case(
        "a name that a closure uses is any that it is bound to",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f():
                x = a
                def g():
                    x()
                x = b
                return g
            """
        },
        ("app.f.g -> app.a", "app.f.g -> app.b"),
        exact=True,
    ),
    Case(
        "the variables of a comprehension are its own",
        {
            "app.py": """
            def a():
                pass

            def b():
                pass

            def f():
                x = a
                [x() for x in [b]]
                x()
            """
        },
        ("app.f -> app.b :10", "app.f -> app.a :11"),
        exact=True,
    ),
    Case(
        "a walrus binds in the function",
        {
            "app.py": """
            def a():
                pass

            def f():
                if (x := a):
                    x()
            """
        },
        ("app.f -> app.a",),
        exact=True,
    ),
    Case(
        "import of a module, of a name, under another name",
        {
            "util.py": "def f():\n    pass\n\ndef g():\n    pass\n\ndef h():\n    pass\n",
            "app.py": """
            import util
            import util as u
            from util import g
            from util import h as k

            def run():
                util.f()
                u.f()
                g()
                k()
            """,
        },
        ("app.run -> util.f :8", "app.run -> util.f :9", "app.run -> util.g", "app.run -> util.h"),
        exact=True,
    ),
    Case(
        "import a.b.c binds a, and the submodules are attributes",
        {
            "a/__init__.py": "",
            "a/b/__init__.py": "",
            "a/b/c.py": "def f():\n    pass\n",
            "app.py": "import a.b.c\n\ndef run():\n    a.b.c.f()\n",
        },
        ("app.run -> a.b.c.f",),
        exact=True,
    ),
    Case(
        "packages without __init__ hold modules too",
        {
            "space/mod.py": "def f():\n    pass\n",
            "app.py": """
            import space.mod
            from space import mod

            def run():
                space.mod.f()
                mod.f()
            """,
        },
        ("app.run -> space.mod.f :6", "app.run -> space.mod.f :7"),
        exact=True,
    ),
    Case(
        "relative imports count their dots",
        {
            "pkg/__init__.py": "",
            "pkg/base.py": "def f():\n    pass\n",
            "pkg/sub/__init__.py": "",
            "pkg/sub/near.py": "def g():\n    pass\n",
            "pkg/sub/mod.py": """
            from ..base import f
            from . import near
            from .. import base

            def run():
                f()
                near.g()
                base.f()
            """,
        },
        (
            "pkg.sub.mod.run -> pkg.base.f :7",
            "pkg.sub.mod.run -> pkg.sub.near.g",
            "pkg.sub.mod.run -> pkg.base.f :9",
        ),
        exact=True,
    ),
    Case(
        "a package hands on what it imports",
        {
            "pkg/__init__.py": "from .impl import work\nfrom .impl import Tool as Thing\n",
            "pkg/impl.py": """
            def work():
                pass

            class Tool:
                def run(self):
                    pass
            """,
            "app.py": """
            import pkg
            from pkg import Thing, work

            def go():
                work()
                pkg.work()
                Thing().run()
            """,
        },
        (
            "app.go -> pkg.impl.work :6",
            "app.go -> pkg.impl.work :7",
            "app.go -> pkg.impl.Tool",
            "app.go -> pkg.impl.Tool.run",
        ),
        exact=True,
    ),
    Case(
        "a package's own submodule of the same name as what it imports from it",
        {
            "pkg/__init__.py": "from . import views\n",
            "pkg/views.py": "def index():\n    pass\n",
            "app.py": "from pkg import views\n\ndef go():\n    views.index()\n",
        },
        ("app.go -> pkg.views.index",),
        exact=True,
    ),
    Case(
        "a star import takes what __all__ lists, also over two files",
        {
            "deep.py": "__all__ = ['f', '_g']\n\ndef f(): pass\n\ndef _g(): pass\n\ndef h(): pass\n",
            "mid.py": "from deep import *\n",
            "app.py": "from mid import *\n\ndef go():\n    f()\n    h()\n",
        },
        ("app.go -> deep.f",),
        never=("app.go -> deep.h",),
        exact=True,
    ),
    Case(
        "a star import without __all__ leaves out names with an underscore",
        {
            "m.py": "def f(): pass\n\ndef _g(): pass\n",
            "app.py": "from m import *\n\nf()\n_g()\n",
        },
        ("app -> m.f",),
        never=("app -> m._g",),
        exact=True,
    ),
    Case(
        "an import that may fail has two values",
        {
            "fast.py": "def f(): pass\n",
            "slow.py": "def f(): pass\n",
            "app.py": """
            try:
                from fast import f
            except ImportError:
                from slow import f

            def go():
                f()
            """,
        },
        ("app.go -> fast.f", "app.go -> slow.f"),
        exact=True,
    ),
    Case(
        "modules that import each other",
        {
            "one.py": "import two\n\ndef f():\n    two.g()\n",
            "two.py": "from one import f\n\ndef g():\n    f()\n",
        },
        ("one.f -> two.g", "two.g -> one.f"),
        exact=True,
    ),
    Case(
        "an import in a function is the function's",
        {
            "m.py": "def f(): pass\n",
            "app.py": "def go():\n    from m import f\n    f()\n\ndef other():\n    f()\n",
        },
        ("app.go -> m.f",),
        never=("app.other -> m.f",),
        exact=True,
    ),
    Case(
        "a src folder and a project file are roots",
        {
            "pyproject.toml": "[project]\nname = 'x'\n",
            "src/pkg/__init__.py": "",
            "src/pkg/mod.py": "def f(): pass\n",
            "tests/test_mod.py": "from pkg.mod import f\n\ndef test():\n    f()\n",
        },
        ("tests.test_mod.test -> pkg.mod.f",),
        exact=True,
    ),
    Case(
        "each project of a repository has its own root",
        {
            "libs/one/pyproject.toml": "",
            "libs/one/one/__init__.py": "def f(): pass\n",
            "libs/two/setup.py": "",
            "libs/two/two/__init__.py": "from one import f\n\ndef g():\n    f()\n",
        },
        ("two.g -> one.f",),
        exact=True,
    ),
    Case(
        "a script imports what stands beside it",
        {
            "scripts/helper.py": "def f(): pass\n",
            "scripts/main.py": "import helper\n\nhelper.f()\n",
        },
        ("scripts.main -> scripts.helper.f",),
        exact=True,
    ),
    Case(
        "a package is not asked for a module outside of it",
        {
            "pkg/__init__.py": "",
            "pkg/json.py": "def loads(): pass\n",
            "pkg/mod.py": "import json\n\ndef f():\n    json.loads()\n",
        },
        ("pkg.mod.f -> json.loads [external]",),
        never=("pkg.mod.f -> pkg.json.loads",),
    ),
    Case(
        "a repository that is a package itself does not hide the library",
        {
            "__init__.py": "",
            "logging.py": "def getLogger(): pass\n",
            "helper.py": "def f(): pass\n",
            "app.py": "import helper\nimport logging\n\nlogging.getLogger()\nhelper.f()\n",
        },
        ("app -> logging.getLogger [external]", "app -> helper.f"),
        exact=True,
    ),
    Case(
        "what is outside has the name it is imported by",
        {
            "app.py": """
            import os.path
            import numpy as np
            from collections import OrderedDict as OD

            def f():
                os.path.join("a")
                np.linalg.norm(1)
                OD()
                len([])
            """
        },
        (
            "app.f -> os.path.join [external] :7",
            "app.f -> numpy.linalg.norm [external]",
            "app.f -> collections.OrderedDict [external]",
            "app.f -> <builtin>.len [external]",
        ),
        exact=False,
    ),
    Case(
        "type checking imports count for hints",
        {
            "m.py": "class C:\n    def run(self): pass\n",
            "app.py": """
            from typing import TYPE_CHECKING

            if TYPE_CHECKING:
                from m import C

            def f(c: "C"):
                c.run()
            """,
        },
        ("app.f -> m.C.run",),
        exact=True,
    ),
    Case(
        "the last of two functions of a name is the one",
        {
            "app.py": """
            def f():
                pass

            f()

            def f():
                pass

            f()
            """
        },
        ("app -> app.f :5", "app -> app.f :10"),
        exact=True,
    ),
    Case(
        "a module's name for a value that it changes is the last one",
        {
            "m.py": "def a(): pass\n\ndef b(): pass\n\nf = a\nf = b\n",
            "app.py": "from m import f\n\nf()\n",
        },
        ("app -> m.b",),
        never=("app -> m.a",),
        exact=True,
    ),
    Case(
        "a parameter hides a function, and what calls pass is inferred",
        {
            "app.py": """
            def f():
                pass

            def g(f):
                f()

            def h():
                pass

            g(h)
            """
        },
        ("app.g -> app.h [inferred]", "app -> app.g"),
        never=("app.g -> app.f",),
        exact=True,
    ),
    Case(
        "a submodule that nobody imported by name is an attribute of its package",
        {
            "pkg/__init__.py": "",
            "pkg/mod.py": "def f(): pass\n",
            "app.py": "import pkg\n\ndef go():\n    pkg.mod.f()\n",
        },
        ("app.go -> pkg.mod.f",),
        exact=True,
    ),
    Case(
        "a bare call of a name that is nowhere stays open",
        {
            "other.py": "def missing(): pass\n",
            "app.py": "def go():\n    missing()\n",
        },
        never=("app.go -> other.missing",),
        exact=True,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_names(case: Case) -> None:
    check(case)
