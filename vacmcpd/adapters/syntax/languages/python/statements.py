"""Statements: assignments, branches, loops, imports."""

from tree_sitter import Node

from ...facts import Attr, Cast, Expr, Lit, Map, Name, ScopeKind, Seq, Spread
from ...linking.sites import IMPLICIT
from . import (
    calls,
    definitions,
    expressions,
    imports,
    literals,
    matching,
    narrowing,
    operators,
    targets,
    types,
)
from .text import constant_string
from .walk import UNKNOWN, StatementHandler, Version, Walk, line_of


def block(w: Walk, node: Node) -> bool:
    """The statements of a body."""
    return w.run_all(node.named_children)


def inner(w: Walk, node: Node) -> bool:
    """A statement of which only the parts matter."""
    w.run_all(node.named_children)
    return False


def skipped(w: Walk, node: Node) -> bool:
    """What says nothing about calls."""
    del w, node
    return False


def expression(w: Walk, node: Node) -> bool:
    for child in node.named_children:
        kind = child.type
        if kind == "assignment":
            _assignment(w, child)
        elif kind == "augmented_assignment":
            _augmented(w, child)
        elif kind != "comment":
            w.drop(w.expr(child))
    return False


def _assignment(w: Walk, node: Node) -> None:
    """``a = b = c``, ``a: T = b``, ``a: T``."""
    lefts: list[Node] = []
    declared: Expr | None = None
    inner: Node | None = node
    while inner is not None and inner.type == "assignment":
        left, hint = inner.child_by_field_name("left"), inner.child_by_field_name("type")
        if left is not None:
            lefts.append(left)
        if hint is not None:
            declared = types.annotation(w, hint.start_byte, hint.end_byte, definitions.owner(w))
        inner = inner.child_by_field_name("right")
    if inner is None:
        if declared is not None and lefts:
            _declared(w, lefts[0], None, declared)
        return
    value = w.expr(inner)
    if w.frame.kind is ScopeKind.MODULE and w.text(lefts[0]) == "__all__":
        value = _exported(w, inner, value)
    if len(lefts) > 1 and type(value) is not Seq:
        value = w.simple(value)
    if declared is not None and lefts:
        _declared(w, lefts[0], value, declared)
        return
    for left in lefts:
        _remember(w, left, inner, value)
        targets.assign(w, left, value)
        if len(lefts) == 1 and left.type == "identifier":
            literals.remember(w, w.text(left), value)
        value = _repeatable(w, left, value)


def _exported(w: Walk, node: Node, value: Expr) -> Expr:
    """``__all__``: its strings as keys, when it is a plain list of them."""
    if type(value) is not Seq or any(type(item) is not Lit for item in value.items):
        return value
    texts = [constant_string(w, child) for child in node.named_children]
    names: list[str | int | None] = [text for text in texts if text is not None]
    return Map(names, [Lit("str")] * len(names))


def _repeatable(w: Walk, left: Node, value: Expr) -> Expr:
    """``value`` for the next target of a chain."""
    if type(value) is Seq and left.type == "identifier":
        return w.name(w.text(left))
    return value


def _remember(w: Walk, left: Node, right: Node, value: Expr) -> None:
    """The constants of the module and its type variables."""
    if w.frame.kind is not ScopeKind.MODULE or left.type != "identifier":
        return
    name = w.text(left)
    if type(value) is Lit and right.type in ("string", "integer") and name in w.once:
        known = expressions.constant(w, right)
        if known is not None:
            w.constants[name] = known
    fn = getattr(value, "fn", None)
    if fn is not None and (fn == Name("TypeVar") or (type(fn) is Attr and fn.name == "TypeVar")):
        w.type_vars[name] = _bound_of(w, right)


def _bound_of(w: Walk, node: Node) -> Expr | None:
    args = node.children[-1]
    for child in args.named_children:
        if child.type == "keyword_argument" and len(child.children) > 2:
            name, value = child.children[0], child.children[-1]
            if w.text(name) == "bound":
                return types.annotation(w, value.start_byte, value.end_byte)
    return None


def _declared(w: Walk, left: Node, value: Expr | None, declared: Expr) -> None:
    if left.type == "identifier":
        w.bind(w.text(left), value, declared)
    elif value is not None:
        targets.assign(w, left, Cast(declared, value))
    elif left.type == "attribute":
        targets.assign(w, left, Cast(declared))


def _augmented(w: Walk, node: Node) -> None:
    """``a += b`` changes ``a`` or makes another."""
    children = [child for child in node.children if child.type != "comment"]
    if len(children) < 3:
        w.parts(node)
        return
    left, operator, right = children[0], children[1].type[:-1], children[-1]
    line = line_of(node)
    value = w.expr(right)
    name = operators.binary_name(operator)
    if left.type not in ("identifier", "attribute", "subscript") or not name:
        w.drop(value)
        w.parts(left)
        return
    of = w.simple(w.expr(left))
    if type(value) is Seq:
        for item in value.items:
            if type(item) is not Spread and type(item) is not Lit:
                w.build.here.store(of, None, item, attr=False)
            else:
                w.drop(item)
        return
    w.build.here.do(w.implicit(of, f"__i{name}__", line))
    made = w.implicit(of, f"__{name}__", line, value=True)
    made.args.append(value)
    if left.type == "identifier":
        w.frame.frozen += 1
        w.bind(w.text(left), made)
        w.frame.frozen -= 1
    else:
        w.build.here.do(made)


def returned(w: Walk, node: Node) -> bool:
    for child in node.named_children:
        if child.type != "comment":
            w.build.here.give(w.expr(child))
    return True


def raised(w: Walk, node: Node) -> bool:
    """``raise E`` makes an ``E``."""
    for child in node.named_children:
        if child.type in ("identifier", "attribute"):
            value = w.expr(child)
            if type(value) is Attr:
                value = Attr(value.of, value.name)
            line = line_of(child)
            made = w.build.call(value, (), line=line, names=[IMPLICIT], new=True)
            w.build.here.do(made)
        elif child.type != "comment":
            w.drop(w.expr(child))
    return True


def ended(w: Walk, node: Node) -> bool:
    del w, node
    return True


def asserted(w: Walk, node: Node) -> bool:
    w.run_all(node.named_children)
    if node.named_children:
        narrowing.assume(w, node.named_children[0], positive=True)
    return False


def condition(w: Walk, node: Node) -> bool:
    """``if a: … elif b: … else: …``."""
    ends: list[dict[str, Version]] = []
    whole = False
    for child in node.named_children:
        kind = child.type
        if kind == "comment":
            continue
        if kind == "elif_clause":
            _branch(w, child.named_children, ends)
        elif kind == "else_clause":
            whole = True
            if not w.run_all(child.named_children):
                ends.append(w.env)
        elif kind == "block":
            continue
        else:
            parts = [part for part in node.named_children[:4] if part.type != "comment"]
            _branch(w, parts[:2], ends)
            if not _is_block(parts):
                break
    if not whole:
        ends.append(w.env)
    w.join(ends)
    return not ends


def _is_block(parts: list[Node]) -> bool:
    return len(parts) > 1 and parts[1].type == "block"


def _branch(w: Walk, nodes: list[Node], ends: list[dict[str, Version]]) -> None:
    """A condition and what runs when it holds; afterwards it does not hold."""
    parts = [part for part in nodes if part.type != "comment"]
    if not parts:
        return
    w.drop(w.expr(parts[0]))
    env = w.env
    with w.branch(env):
        narrowing.assume(w, parts[0], positive=True)
        if not w.run_all(parts[1:]):
            ends.append(w.env)
    w.env = dict(env)
    narrowing.assume(w, parts[0], positive=False)


def for_loop(w: Walk, node: Node) -> bool:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return inner(w, node)
    value = calls.iterated(w, right, asynchronous=node.children[0].type == "async")
    before = dict(w.env)
    if w.frame.frozen:
        _loop_again(w, node, left, value)
        return False
    targets.assign(w, left, value)
    with w.repeated():
        _bodies(w, node)
    w.join([before, w.env])
    return False


def _bodies(w: Walk, node: Node) -> None:
    for child in node.named_children:
        if child.type in ("block", "else_clause"):
            w.run_all(child.named_children)


def _loop_again(w: Walk, node: Node, left: Node, value: Expr) -> None:
    """A loop in a loop: in its body its variables are what it gives them, outside they add."""
    added: list[tuple[str, str]] = []

    def bind(name: str, item: Expr | None) -> None:
        made = w.bind_apart(name, item)
        if made is not None:
            added.append((name, made))

    targets.assign(w, left, value, bind)
    with w.repeated():
        _bodies(w, node)
    for name, made in added:
        w.env.pop(name, None)
        w.bind(name, Name(made))


def while_loop(w: Walk, node: Node) -> bool:
    with w.repeated():
        for child in node.named_children:
            if child.type in ("block", "else_clause"):
                w.run_all(child.named_children)
            else:
                w.drop(w.expr(child))
                narrowing.assume(w, child, positive=True)
    return False


def tried(w: Walk, node: Node) -> bool:
    """``try: … except E as e: … else: … finally: …``."""
    body = final = False
    handlers = True
    with w.repeated():
        for child in node.named_children:
            kind = child.type
            if kind in ("except_clause", "except_group_clause"):
                handlers = _caught(w, child) and handlers
            elif kind == "finally_clause":
                final = w.run_all(child.named_children)
            elif kind == "else_clause":
                body = w.run_all(child.named_children) or body
            elif kind != "comment":
                body = w.run(child)
    return final or (body and handlers)


def _caught(w: Walk, node: Node) -> bool:
    ends = False
    for child in node.named_children:
        kind = child.type
        if kind == "block":
            ends = w.run_all(child.named_children)
        elif kind == "as_pattern":
            parts = child.named_children
            w.drop(w.expr(parts[0]))
            if len(parts) > 1:
                value = narrowing.caught(w, parts[0])
                targets.assign(w, parts[-1], value if value is not None else UNKNOWN)
        elif kind != "comment":
            w.drop(w.expr(child))
    return ends


def with_statement(w: Walk, node: Node) -> bool:
    method = "__aenter__" if node.children[0].type == "async" else "__enter__"
    ended = False
    for child in node.named_children:
        if child.type == "with_clause":
            for item in child.named_children:
                _entered(w, item, method)
        elif child.type == "block":
            ended = w.run_all(child.named_children)
    # A context manager may swallow what ended the block.
    return ended


def _entered(w: Walk, item: Node, method: str) -> None:
    node = item.named_children[0] if item.type == "with_item" and item.named_children else item
    if node.type == "tuple":
        for child in node.named_children:
            _entered(w, child, method)
        return
    target: Node | None = None
    if node.type == "as_pattern":
        parts = node.named_children
        node, target = parts[0], parts[-1]
    value = w.expr(node)
    if not (type(value) in (Lit, Seq, Map) or value is UNKNOWN):
        value = w.implicit(value, method, line_of(node), value=True)
    if target is not None:
        targets.assign(w, target, value)
    else:
        w.drop(value)


def global_names(w: Walk, node: Node) -> bool:
    draft = w.build.here
    for child in node.named_children:
        if child.type == "identifier" and w.frame.kind is not ScopeKind.MODULE:
            name = w.text(child)
            names = draft.outermost if node.type == "global_statement" else draft.outer
            if name not in names:
                names.append(name)
            w.frame.free.add(name)
            w.env.pop(name, None)
    return False


def deleted(w: Walk, node: Node) -> bool:
    """``del of[key]``."""
    for child in node.named_children:
        for part in child.named_children if child.type == "expression_list" else [child]:
            if part.type == "subscript":
                of, keys = expressions.subscripted(w, part)
                for key in keys:
                    w.drop(w.expr(key))
                w.build.here.do(w.implicit(of, "__delitem__", line_of(part)))
            elif part.type == "attribute":
                w.drop(w.expr(part.children[0]))
    return False


def alias(w: Walk, node: Node) -> bool:
    """``type A = B``."""
    parts = node.named_children
    if len(parts) == 2:
        to = types.annotation(w, parts[1].start_byte, parts[1].end_byte)
        name = w.text(parts[0]).partition("[")[0].strip()
        if to is not None:
            w.build.here.bind(name, to)
    return False


STATEMENTS: dict[str, StatementHandler] = {
    "module": block,
    "block": block,
    "expression_statement": expression,
    "return_statement": returned,
    "raise_statement": raised,
    "break_statement": ended,
    "continue_statement": ended,
    "if_statement": condition,
    "for_statement": for_loop,
    "while_statement": while_loop,
    "try_statement": tried,
    "with_statement": with_statement,
    "match_statement": matching.match,
    "assert_statement": asserted,
    "global_statement": global_names,
    "nonlocal_statement": global_names,
    "delete_statement": deleted,
    "type_alias_statement": alias,
    "import_statement": imports.imported,
    "import_from_statement": imports.imported_from,
    "future_import_statement": skipped,
    "function_definition": definitions.function,
    "class_definition": definitions.klass,
    "decorated_definition": definitions.decorated,
    "elif_clause": inner,
    "else_clause": inner,
    "except_clause": inner,
    "finally_clause": inner,
    "ERROR": inner,
    "comment": skipped,
    "pass_statement": skipped,
    "line_continuation": skipped,
}
