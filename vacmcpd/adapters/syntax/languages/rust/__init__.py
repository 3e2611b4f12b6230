"""Rust: crates and modules by Cargo.toml and folders, traits, impl blocks, patterns.

Names are ``crate::module::Type::method``.
"""

from tree_sitter import Node

from .....ports.graph import Tier
from ...facts import FileFacts
from ..registry import Language
from .items import items
from .rules import RULES
from .walk import walk_of


def extract(source: bytes, root: Node) -> FileFacts:
    """What a Rust file says about calls."""
    walk = walk_of(source, root, items)
    items(walk, root.named_children)
    return walk.build.finish()


LANGUAGES = (
    Language("rust", Tier.SCOPED, (".rs",), "tree-sitter-rust", "tree_sitter_rust", extract, RULES),
)
