"""Locks between processes that share one data directory."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from .budget import CancelFlag


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as far as its note tells; for messages only."""

    pid: int
    verb: str
    started_at: str
    address: str = ""


OnWait = Callable[[str, Holder | None], None]
"""Called once when a lock is taken by somebody else: the lock's name and its holder."""


class Guard(Protocol):
    """Proof that a lock is held; lifecycle functions are handed one and never lock themselves."""

    @property
    def lock(self) -> str:
        """``server``, ``repository NAME``, ``store NAME`` or ``build CONTEXT``."""
        ...


class Locks(Protocol):
    """All raise LOCKED, naming the holder and what to do, when they can't be had."""

    def server(self, verb: str, address: str) -> AbstractContextManager[Guard]:
        """The data directory for one server's life: exclusive, without waiting."""
        ...

    def changing(self, verb: str) -> AbstractContextManager[Guard]:
        """The data directory for a command that a server must not see: shared, no waiting."""
        ...

    def repository(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """The refs and packs of one clone: exclusive, waits its turn for ``timeout`` seconds."""
        ...

    def store(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """The artifacts of one repository while they are built."""
        ...

    def build(self, build: str, verb: str) -> AbstractContextManager[Guard]:
        """One context's builds, by its id, from before its row is there until the build ended."""
        ...

    def build_is_dead(self, build: str) -> bool:
        """True if and only if the lock of this context's builds can be taken."""
        ...

    def server_holder(self) -> Holder | None:
        """The running server's note; None when the server's lock is free."""
        ...
