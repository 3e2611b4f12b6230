"""PHP declarations: namespaces, ``use``, functions, classes and their members."""

from collections.abc import Sequence

from tree_sitter import Node

from ...facts import Attr, Def, Expr, Flag, Name, ScopeKind, This
from .expressions import expr, parameters, run
from .walk import Walk, line_of

_CLASSES = {
    "class_declaration": ScopeKind.CLASS,
    "enum_declaration": ScopeKind.CLASS,
    "interface_declaration": ScopeKind.INTERFACE,
    "trait_declaration": ScopeKind.CLASS,
}


def program(walk: Walk, nodes: list[Node]) -> None:
    """The statements of a file; a namespace without braces holds until the next."""
    for index, node in enumerate(nodes):
        if node.type != "namespace_definition":
            item(walk, node)
            continue
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        walk.namespace = walk.text(name) if name is not None else ""
        walk.classes, walk.functions = {}, {}
        inner = body.named_children if body is not None else nodes[index + 1 :]
        if walk.namespace:
            title = f"{walk.namespace}\\"
            line, end = line_of(node), (body or nodes[-1]).end_point.row + 1
            with walk.build.scope(ScopeKind.NAMESPACE, title, line, end) as (_, ref):
                rest = _statements(walk, inner)
                listed = list(walk.build.here.body)
            walk.build.here.bind(title, ref)
            _publish(walk, ref, listed)
        else:
            rest = _statements(walk, inner)
        if body is None:
            program(walk, rest)
            return
        walk.namespace = ""


def _statements(walk: Walk, nodes: list[Node]) -> list[Node]:
    """Lower up to the next namespace; gives what is left."""
    for index, node in enumerate(nodes):
        if node.type == "namespace_definition":
            return nodes[index:]
        item(walk, node)
    return []


def _publish(walk: Walk, of: Def, listed: Sequence[object]) -> None:
    """Bind what a namespace declares by its full name in the file."""
    names = dict.fromkeys(
        item.name  # type: ignore[attr-defined]
        for item in listed
        if type(getattr(item, "value", None)) is Def
    )
    for name in names:
        walk.build.here.bind(f"{walk.namespace}\\{name}", Attr(of, name))


def item(walk: Walk, node: Node) -> None:
    """A declaration or a statement."""
    kind = node.type
    if kind in _CLASSES:
        name = node.child_by_field_name("name")
        if name is not None:
            class_like(walk, node, walk.text(name))
    elif kind == "function_definition":
        _function(walk, node)
    elif kind == "namespace_use_declaration":
        _use(walk, node)
    else:
        run(walk, node)


def _use(walk: Walk, node: Node) -> None:
    text = " ".join(walk.text(node).rstrip("; \n").split()).removeprefix("use ")
    prefix, brace, inner = text.partition("{")
    listed = inner.rstrip("} ") if brace else text
    kind = ""
    head = prefix if brace else ""
    for word in ("function ", "const "):
        if text.startswith(word):
            kind, head = word, head.removeprefix(word)
    for clause in listed.split(","):
        part = clause.strip().lstrip("\\") if not brace else clause.strip()
        own = kind
        for word in ("function ", "const "):
            if part.startswith(word):
                own, part = word, part.removeprefix(word)
        path, _, alias = part.partition(" as ")
        full = f"{head.strip()}{path.strip()}".lstrip("\\")
        name = alias.strip() or full.rpartition("\\")[2]
        if name and own != "const ":
            (walk.functions if own else walk.classes)[name] = full


def _function(walk: Walk, node: Node) -> None:
    name = node.child_by_field_name("name")
    if name is None:
        return
    text = walk.text(name)
    _body(walk, node, ScopeKind.FUNCTION, text)


def _body(walk: Walk, node: Node, kind: ScopeKind, name: str, flags: Flag = Flag.NONE) -> None:
    build = walk.build
    before = walk.inside, walk.narrowed
    walk.inside, walk.narrowed = True, {}
    with build.scope(kind, name, line_of(node), node.end_point.row + 1) as (draft, ref):
        listed = node.child_by_field_name("parameters")
        draft.flags = flags
        draft.params = parameters(walk, listed)
        draft.returns = walk.type_of(node.child_by_field_name("return_type"))
        body = node.child_by_field_name("body")
        for param in listed.named_children if listed is not None else ():
            inner = param.child_by_field_name("name")
            if param.type == "property_promotion_parameter" and inner is not None:
                text = walk.text(inner).lstrip("&")
                draft.store(This(), text[1:], Name(text))
        if body is not None:
            run(walk, body)
    walk.inside, walk.narrowed = before
    build.here.bind(f"{name}()", ref, flags=flags)


def class_like(walk: Walk, node: Node, name: str) -> Expr:
    """A class, interface, trait or enum, and its members."""
    before = walk.own, walk.parent, walk.inside
    bases, parent = _bases(walk, node)
    kind = _CLASSES.get(node.type, ScopeKind.CLASS)
    build = walk.build
    with build.scope(kind, name, line_of(node), node.end_point.row + 1) as (draft, ref):
        walk.own = This() if name.startswith("<") else walk.class_name(f"\\{walk.qualified(name)}")
        walk.parent = parent
        draft.bases = bases
        body = node.child_by_field_name("body")
        if body is None:
            listed = [c for c in node.named_children if c.type.endswith("declaration_list")]
            body = listed[0] if listed else None
        for child in body.named_children if body is not None else ():
            _class_item(walk, child, kind)
    walk.own, walk.parent, walk.inside = before
    if not name.startswith("<"):
        build.here.bind(name, ref)
    return ref


def _bases(walk: Walk, node: Node) -> tuple[list[Expr], Expr | None]:
    """Traits, then what is extended, then interfaces; and what is extended."""
    traits: list[Expr] = []
    above: list[Expr] = []
    parent: Expr | None = None
    for child in node.named_children:
        if child.type in ("base_clause", "class_interface_clause"):
            named = [walk.class_name(walk.text(part)) for part in child.named_children]
            above.extend(named)
            if child.type == "base_clause" and named:
                parent = named[0]
        elif child.type.endswith("declaration_list"):
            for part in child.named_children:
                if part.type == "use_declaration":
                    names = (inner for inner in part.named_children if inner.type != "use_list")
                    traits.extend(walk.class_name(walk.text(inner)) for inner in names)
    return [*traits, *above], parent


def _class_item(walk: Walk, node: Node, kind: ScopeKind) -> None:
    if node.type == "method_declaration":
        name = node.child_by_field_name("name")
        if name is not None:
            _method(walk, node, walk.text(name), kind)
    elif node.type == "property_declaration":
        declared = walk.type_of(node.child_by_field_name("type"))
        for part in node.named_children:
            name = part.child_by_field_name("name") if part.type == "property_element" else None
            if name is not None:
                value = part.child_by_field_name("default_value")
                made = expr(walk, value) if value is not None else None
                walk.build.here.bind(walk.text(name)[1:], made, declared)
    elif node.type == "enum_case":
        name = node.child_by_field_name("name")
        if name is not None:
            walk.build.here.bind(walk.text(name), None, walk.own)
    elif node.type == "use_declaration":
        for part in node.named_children:
            if part.type == "use_list":
                _adapt(walk, part)


def _method(walk: Walk, node: Node, name: str, kind: ScopeKind) -> None:
    words = {walk.text(child).lower() for child in node.children if child.type.endswith("modifier")}
    flags = Flag.NONE
    for word, flag in (("static", Flag.STATIC), ("private", Flag.PRIVATE)):
        if word in words:
            flags |= flag
    if kind is ScopeKind.INTERFACE or node.child_by_field_name("body") is None:
        flags |= Flag.ABSTRACT
    if name == "__construct":
        for param in (node.child_by_field_name("parameters") or node).named_children:
            inner = param.child_by_field_name("name")
            if param.type == "property_promotion_parameter" and inner is not None:
                declared = walk.type_of(param.child_by_field_name("type"))
                walk.build.here.bind(walk.text(inner).lstrip("&$"), None, declared)
    made = ScopeKind.CONSTRUCTOR if name == "__construct" else ScopeKind.METHOD
    _body(walk, node, made, name, flags)


def _adapt(walk: Walk, node: Node) -> None:
    """``T::a insteadof U`` and ``T::a as b``."""
    for clause in node.named_children:
        parts = clause.named_children
        if not parts or parts[0].type != "class_constant_access_expression":
            continue
        of, name = parts[0].named_children[0], walk.text(parts[0].named_children[-1])
        last = parts[-1]
        renamed = clause.type == "use_as_clause" and last.type == "name"
        bound = walk.text(last) if renamed else name
        walk.build.here.bind(f"{bound}()", Attr(walk.class_name(walk.text(of)), f"{name}()"))
