"""Which classes derive from which: by name, or by having an interface's methods."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from .records import Bases

Below = dict[str, tuple[str, ...]]


def derived(records: Iterable[Bases]) -> Below:
    """The keys of the classes directly below each class, sorted, by its key."""
    below: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for key, bases in record.classes:
            for base in bases:
                below[base].add(key)
    return {key: tuple(sorted(keys)) for key, keys in below.items()}


def implementers(records: Iterable[Bases]) -> Below:
    """The keys of the types that have every method of an interface, sorted, by its key.

    Embedding counts on both sides: a type has the methods of what it embeds, an interface asks
    for those of the interfaces in it. An interface without methods has no implementers: every
    type would be one.
    """
    types: dict[str, set[str]] = {}
    interfaces: dict[str, set[str]] = {}
    embeds: dict[str, list[str]] = {}
    for record in records:
        for key, methods, interface in record.methods:
            (interfaces if interface else types)[key] = set(methods)
        embeds.update(record.classes)
    for table in (types, interfaces):
        for key in sorted(table):
            table[key] = _with_embedded(key, embeds, types, interfaces)
    having: dict[str, set[str]] = defaultdict(set)
    for key, names in types.items():
        for name in names:
            having[name].add(key)
    below: Below = {}
    for key, names in interfaces.items():
        found = _all_of(names, having)
        if found:
            below[key] = tuple(sorted(found))
    return below


def _with_embedded(
    key: str,
    embeds: Mapping[str, list[str]],
    types: Mapping[str, set[str]],
    interfaces: Mapping[str, set[str]],
) -> set[str]:
    found: set[str] = set()
    seen: set[str] = set()
    stack = [key]
    while stack:
        top = stack.pop()
        if top not in seen:
            seen.add(top)
            found |= types.get(top, set()) | interfaces.get(top, set())
            stack.extend(embeds.get(top, ()))
    return found


def _all_of(methods: set[str], having: Mapping[str, set[str]]) -> set[str]:
    if not methods:
        return set()
    rarest_first = sorted(methods, key=lambda name: (len(having.get(name, ())), name))
    found = set(having.get(rarest_first[0], ()))
    for name in rarest_first[1:]:
        found &= having.get(name, set())
    return found
