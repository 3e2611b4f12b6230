"""Ruby: constants and methods of the whole repository, modules mixed in, blocks.

Names are ``A::B.method`` for methods of instances and of the class itself.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .definitions import finish, parameters, statement, statements
from .rules import RULES
from .walk import walk_of


def extract(source: bytes, root: Node) -> FileFacts:
    """What a Ruby file says about calls."""
    walk = walk_of(source, root, statement, parameters)
    statements(walk, root.named_children)
    finish(walk)
    return walk.build.finish()


LANGUAGES = (
    Language(
        "ruby",
        Tier.SCOPED,
        (".rb", ".rake", ".gemspec", ".ru"),
        "tree-sitter-ruby",
        "tree_sitter_ruby",
        extract,
        RULES,
        filenames=("Rakefile", "Gemfile", "Guardfile", "Vagrantfile"),
        interpreters=("ruby",),
    ),
)
