r"""PHP: namespaces over the repository, classes, traits, closures, callables.

Names are ``Ns\Class::method`` and ``Ns\function``; module-level code is named by its path.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .items import program
from .rules import RULES
from .walk import walk_of


def extract(source: bytes, root: Node) -> FileFacts:
    """What a PHP file says about calls."""
    walk = walk_of(source, root)
    program(walk, root.named_children)
    return walk.build.finish()


LANGUAGES = (
    Language(
        "php",
        Tier.SCOPED,
        (".php", ".phtml", ".inc"),
        "tree-sitter-php",
        "tree_sitter_php",
        extract,
        RULES,
        entry="language_php",
        interpreters=("php",),
    ),
)
