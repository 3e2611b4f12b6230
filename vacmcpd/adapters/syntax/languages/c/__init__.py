"""C: external linkage over the repository, includes, macros as symbols, function pointers.

A function is named without its file, module-level code by its path. Of several definitions of a
name with external linkage those nearest to the caller by folder count, all of them when equally
near: which ones are linked together is not in the sources.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .items import item
from .rules import RULES
from .walk import walk_of


def extract(source: bytes, root: Node) -> FileFacts:
    """What a C file says about calls."""
    walk = walk_of(source, root)
    for child in root.named_children:
        item(walk, child)
    return walk.build.finish()


LANGUAGES = (
    Language("c", Tier.SCOPED, (".c", ".h"), "tree-sitter-c", "tree_sitter_c", extract, RULES),
)
