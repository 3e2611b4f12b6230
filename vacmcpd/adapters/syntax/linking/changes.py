"""Which leaves differ between two versions."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2b

from ....errors import VacmcpError
from ..facts import Bind, Def, Expr, encode, parts_of
from .linker import body_leaf, leaf_of, name_leaf
from .records import Outline
from .tree import Tree
from .units import NAMED, Declaration, Unit

Essences = Mapping[str, Callable[[bytes], object]]
Outlines = Iterable[tuple[str, Outline]]


def changed_items(before: Unit | None, after: Unit | None) -> set[int]:
    """The leaves of a file that differ between two of its contents."""
    old = items_of(before) if before is not None else {}
    new = items_of(after) if after is not None else {}
    return {leaf_of(text) for text in old.keys() | new.keys() if old.get(text) != new.get(text)}


def changed_tree(before: Tree, after: Tree, essences: Essences) -> set[int]:
    """The leaves of the two trees' names and of their files' contents that differ."""
    leaves: set[int] = set()
    old, new = before.blobs, after.blobs
    for path in old.keys() | new.keys():
        if old.get(path) != new.get(path):
            name = path.rpartition("/")[2]
            if (path in old) != (path in new):
                leaves.add(leaf_of(f"path\0{path}"))
                leaves.add(leaf_of(f"places\0{name}"))
                leaves.add(leaf_of(f"listing\0{path.rpartition('/')[0]}"))
            essence = essences.get(name)
            if essence is not None and _is_alike(before, after, path, essence):
                continue
            leaves.add(leaf_of(f"blob\0{path}"))
            leaves.add(leaf_of(f"named\0{name}"))
    for folder in before.folders.keys() ^ after.folders.keys():
        leaves.add(leaf_of(f"folder\0{folder}"))
    return leaves


def _is_alike(before: Tree, after: Tree, path: str, essence: Callable[[bytes], object]) -> bool:
    """Whether the rules find the same in both contents of a file."""
    if not before.has(path) or not after.has(path):
        return False
    try:
        old, new = before.sources.read(path), after.sources.read(path)
    except VacmcpError:
        # The older content may be gone from the clone by now.
        return False
    return old is not None and new is not None and essence(old) == essence(new)


def changed_outline(family: str, before: Outline | None, after: Outline | None) -> set[int]:
    """The leaves of packages that a file's names coming or going changes."""
    texts = _named(family, before) ^ _named(family, after)
    # A type's set of methods is a leaf too.
    texts |= {
        text.replace("member\0", "methods\0", 1).rpartition(".")[0]
        for text in texts
        if text.startswith("member\0")
    }
    return {leaf_of(text) for text in texts}


def changed_table(
    prefix: str, before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]
) -> set[int]:
    """The leaves of a table of the whole version that differ."""
    return {
        leaf_of(f"{prefix}\0{key}")
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    }


def _named(family: str, outline: Outline | None) -> set[str]:
    if outline is None:
        return set()
    package = outline.package
    found = {f"package\0{family}\0{package}\0{name}" for name in outline.names}
    return found | {f"member\0{family}\0{package}\0{name}" for name in outline.members}


def changed_presence(before: Outlines, after: Outlines) -> set[int]:
    """The leaves of packages and of properties' names that only one of two versions has.

    Each outline comes with the family of its file.
    """
    return {leaf_of(text) for text in _present(before) ^ _present(after)}


def _present(outlines: Outlines) -> set[str]:
    found: set[str] = set()
    for family, outline in outlines:
        found.add(f"package\0{family}\0{outline.package}")
        found.update(f"property\0{family}\0{name}" for name in outline.properties)
    return found


def items_of(unit: Unit) -> dict[str, bytes]:
    """What each leaf of a file says, as a digest; equal ones say the same."""
    items: dict[str, bytes] = {}
    for made in unit.declarations:
        if made.kind in NAMED:
            _scope_items(made, items)
        else:
            items[body_leaf(made)] = _digest([encode(made.scope), *_headers(made)])
    for name, stores in unit.stores.items():
        texts = [part for made, item in stores for part in (made.qual.encode(), encode(item))]
        items[f"stores\0{unit.path}\0{name}"] = _digest(texts)
    if unit.stores:
        items[f"stores\0{unit.path}"] = _digest(name.encode() for name in sorted(unit.stores))
    return items


def _scope_items(made: Declaration, items: dict[str, bytes]) -> None:
    parts: dict[str, list[bytes]] = {}
    for name, binds in made.binds.items():
        texts = parts.setdefault(name, [])
        for item in binds:
            texts.append(encode(item))
            texts.extend(_defined(made, item))
    for name, lent in made.elsewhere.items():
        for origin, item in lent:
            parts.setdefault(name, []).extend((origin.qual.encode(), encode(item)))
    if made.is_class:
        for name, fields in made.fields.items():
            for method, expr in fields:
                parts.setdefault(name, []).extend((method.qual.encode(), encode(expr)))
    scope = made.scope
    head = [encode(scope.bases), encode(scope.type_params), encode([scope.kind, scope.flags])]
    parts["<bases>"] = head
    parts[""] = [encode(scope)]
    for name, texts in parts.items():
        items[name_leaf(made, name)] = _digest(texts)


def _defined(made: Declaration, item: Bind) -> Iterator[bytes]:
    """The heads of the functions that a binding defines: what callers see of them."""
    stack: list[Expr] = [item.value] if item.value is not None else []
    while stack:
        top = stack.pop()
        if type(top) is Def:
            yield _head(made.children[top.child])
        stack.extend(parts_of(top))


def _headers(made: Declaration) -> list[bytes]:
    return [_head(child) for child in made.children.values()]


def _head(made: Declaration) -> bytes:
    scope = made.scope
    return encode(
        [scope.kind, scope.flags, scope.params, scope.returns, scope.receiver, scope.signature]
    )


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(len(part).to_bytes(4, "little"))
        digest.update(part)
    return digest.digest()
