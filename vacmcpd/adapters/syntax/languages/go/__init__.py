"""Go: packages by folder and go.mod, methods by receiver, embedding, interfaces by their methods.

Names are ``import/path.Func`` and ``import/path.Type.Method``.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .items import source_file
from .rules import RULES
from .walk import Walk


def extract(source: bytes, root: Node) -> FileFacts:
    """What a Go file says about calls."""
    walk = Walk(source, root)
    source_file(walk, root)
    return walk.build.finish()


LANGUAGES = (
    Language("go", Tier.SCOPED, (".go",), "tree-sitter-go", "tree_sitter_go", extract, RULES),
)
