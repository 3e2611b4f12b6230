"""Where languages differ once their files are facts: names, imports, members, dispatch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .facts import Call, Import
    from .linking.linker import Linker
    from .linking.sites import Site
    from .linking.tree import Tree
    from .linking.units import Declaration, Unit
    from .linking.values import Value, Values

    Overload = Callable[[Linker, Declaration, Call, list[Declaration]], list[Declaration]]


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

    separator: str = "."
    """What stands between the module's name and a local one."""

    member_separator: str = "."
    """What stands between the parts of a local name: a type and its method."""

    global_names: bool = False
    """Declarations are named without their module: their names are the whole program's."""

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

    overload: "Overload | None" = None
    """Of several overloads that take so many arguments, those that the call may mean."""

    attached: bool = False
    """Methods are declared outside of their types (Go, Rust, C++)."""

    structural: bool = False
    """A type implements an interface by having its methods, as in Go."""

    class_objects: bool = False
    """Functions make instances and have members, as in JavaScript."""

    final_by_default: bool = False
    """Methods are not overridden unless they are marked (C++, C#, Rust inherent methods)."""

    mro: "Callable[[Linker, Declaration], list[Declaration]] | None" = None
    """The method resolution order; depth first, each class once, when there is none."""

    map_kind: str = "map"
    """What the type of keyed containers is called in the names of what is built in."""

    builtin_types: frozenset[str] = field(default_factory=frozenset)
    """Names of types outside the repository that need no import."""

    essences: "Mapping[str, Callable[[bytes], object]]" = field(default_factory=dict)
    """What the rules look at of the files that say how modules are found, by the files' names.

    Where that is equal in two versions, the file counts as unchanged: a release's new number
    links nothing again. Files of other names count whole.
    """

    call_member: str = ""
    """The method that calling an instance runs (``__call__``)."""

    item_member: str = ""
    """The method that subscripting an instance runs (``__getitem__``)."""

    iter_members: tuple[str, ...] = ()
    """The methods that iterating over an instance runs, one on what the other gives."""

    trusts_values: bool = False
    """What a function returns counts beside the type that it declares (unchecked hints)."""

    lambda_members: bool = False
    """Any method called on a lambda runs it (functional interfaces)."""

    call_value: "Callable[[Linker, Declaration, Call], Values | None] | None" = None
    """What a call gives where the language knows better; None for the usual."""

    site_targets: "Callable[[Linker, Declaration, Call, Site], bool] | None" = None
    """Fills in a call site whose targets the language knows better; False for the usual."""

    this_value: "Callable[[Linker, Declaration], Values] | None" = None
    """What ``this`` is outside of any method of a class."""

    module_attr: "Callable[[Linker, Unit, str], Values] | None" = None
    """A name of a module that it does not bind itself: submodules, star imports."""

    value_attr: "Callable[[Linker, Value, str], Values | None] | None" = None
    """An attribute of a value where the language knows better; None for the usual."""

    class_body_caller: bool = False
    """Calls directly in a class body have the class as their caller, else what encloses it."""
