"""Java: packages, nested and anonymous classes, overloads, overrides, lambdas.

Names are ``package.Class.method``; constructors are ``package.Class.<init>``.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .declarations import compilation_unit
from .rules import RULES
from .walk import walk_of


def extract(source: bytes, root: Node) -> FileFacts:
    """What a Java file says about calls."""
    walk = walk_of(source, root)
    compilation_unit(walk, root)
    return walk.build.finish()


LANGUAGES = (
    Language(
        "java", Tier.SCOPED, (".java",), "tree-sitter-java", "tree_sitter_java", extract, RULES
    ),
)
