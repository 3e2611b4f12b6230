"""Python: syntax into facts, and its rules."""

from tree_sitter import Node

from .....ports.graph import Tier
from ...building import Builder
from ...facts import FileFacts, ScopeKind
from ..registry import Language
from .expressions import EXPRESSIONS
from .rules import RULES
from .statements import STATEMENTS
from .walk import Frame, Tables, Walk, bound_often

TABLES = Tables(EXPRESSIONS, STATEMENTS)


def extract(source: bytes, root: Node) -> FileFacts:
    """What a Python file says about calls."""
    build = Builder("python", root.end_point[0] + 1)
    frame = Frame(build.module, ScopeKind.MODULE, root)
    walk = Walk(source, build, TABLES, frame)
    frame.again, walk.once = bound_often(walk, root)
    walk.run_all(root.named_children)
    for name in sorted(frame.again):
        if walk.env.get(name, name) != name:
            # What other files see is what the name is when the module ends.
            build.module.bind(name, walk.name(name))
    return build.finish()


LANGUAGES = (
    Language(
        "python",
        Tier.SCOPED,
        (".py", ".pyw"),
        "tree-sitter-python",
        "tree_sitter_python",
        extract,
        RULES,
        interpreters=("python", "pypy"),
    ),
)

__all__ = ["LANGUAGES", "extract"]
