"""The calls among the tokens that a macro is given, which no grammar parses."""

from tree_sitter import Node

from ...facts import Attr, Expr, Lit, Name, This
from .walk import DEEPEST, Walk

_WRAPPERS = frozenset({"Some", "Ok", "Err"})
_WORDS = frozenset({"identifier", "self", "crate", "super"})


def in_tokens(walk: Walk, tree: Node) -> list[Expr]:
    """The values of a token tree that are names or have calls in them."""
    if walk.depth > DEEPEST:
        return []
    walk.depth += 1
    made: list[Expr] = []
    tokens = tree.children
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.type in _WORDS:
            value, index = _postfix(walk, tokens, index)
            made.append(value)
        else:
            if token.type == "token_tree":
                made.extend(in_tokens(walk, token))
            index += 1
    walk.depth -= 1
    return made


def _postfix(walk: Walk, tokens: list[Node], index: int) -> tuple[Expr, int]:
    """A path or a name with what is called and read on it, and the index after it."""
    value, line = _start(walk, tokens[index]), tokens[index].start_point.row + 1
    name = walk.text(tokens[index])
    index += 1
    while index < len(tokens):
        token = tokens[index]
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if (
            token.type == "token_tree"
            and walk.source[token.start_byte : token.start_byte + 1] == b"("
        ):
            args = in_tokens(walk, token)
            if name in _WRAPPERS and args:
                value = args[0]
            else:
                value = walk.build.call(value, args, line=line)
            index += 1
        elif token.type == "?":
            index += 1
        elif token.type in (".", "::") and after is not None and after.type in _WORDS:
            name, line = walk.text(after), after.start_point.row + 1
            value = Attr(value, name)
            index += 2
        elif token.type == "!" and after is not None and after.type == "token_tree":
            for inner in in_tokens(walk, after):
                walk.build.here.do(inner)
            value = Lit("macro")
            index += 2
        else:
            break
    return value, index


def _start(walk: Walk, token: Node) -> Expr:
    if token.type == "self":
        return This()
    if token.type == "super":
        return walk.module(1)
    name = walk.text(token)
    if name == "Self" and walk.own_type is not None:
        return walk.own_type
    return walk.root(name) if token.type == "crate" else Name(walk.locals.get(name, name))
