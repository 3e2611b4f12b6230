"""Where languages differ once their files are facts: names, imports, members, dispatch."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .facts import Import
    from .linking.linker import Linker
    from .linking.tree import Tree
    from .linking.units import Declaration, Unit
    from .linking.values import Values


@dataclass(frozen=True, slots=True)
class Rules:
    """One language's scoping and dispatch, as the linker asks for them.

    Every function must be a function of what it reads through the linker alone: what it reads is
    recorded, and a later version is linked again only where that answers differently. Absence is
    an answer too. No decision may rest on a value set being empty: other values may come in a
    later round. Decide by what is bound, by syntax.
    """

    module_name: "Callable[[Tree, str, str], str]"
    """(tree, path, namespace) -> the qualified name of a file's module-level code."""

    import_value: "Callable[[Linker, Unit, Import], Values]"
    """What an import gives; an external value for what is not in the tree."""

    global_value: "Callable[[Linker, Unit, str], Values]"
    """What a name means that no scope of the file binds: packages, star imports, builtins."""

    package: "Callable[[Tree, str, str], str] | None" = None
    """(tree, path, namespace) -> the package whose files share their top-level names."""

    implicit_this: bool = False
    """A bare name in a method may be a member of its class or of an enclosing one."""

    receiver_param: bool = False
    """The first parameter of a method is the receiver, as in Python."""

    constructors: tuple[str, ...] = ()
    """The members that making an instance runs, first found first."""

    overloads: bool = False
    """Functions of one name in one scope are told apart by their parameters."""

    structural: bool = False
    """A type implements an interface by having its methods, as in Go."""

    class_objects: bool = False
    """Functions make instances and have members, as in JavaScript."""

    final_by_default: bool = False
    """Methods are not overridden unless they are marked (C++, C#, Rust inherent methods)."""

    mro: "Callable[[Linker, Declaration], list[Declaration]] | None" = None
    """The method resolution order; depth first, each class once, when there is none."""

    builtin_types: frozenset[str] = field(default_factory=frozenset)
    """Names of types outside the repository that need no import."""

    class_body_caller: bool = False
    """Calls directly in a class body have the class as their caller, else what encloses it."""
