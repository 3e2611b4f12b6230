"""Locks of one process, for embedding and tests: the promises of the port without files."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from ..errors import Cancelled, Locked
from ..ports.budget import CancelFlag
from ..ports.locks import Guard, Holder, OnWait

_POLL_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class HeldInMemory:
    """A lock that is held."""

    lock: str


class MemoryLocks:
    """Implements :class:`vacmcpd.ports.locks.Locks` between the threads that share it."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._server: Holder | None = None
        self._commands: list[Holder] = []
        self._exclusive: dict[str, Holder] = {}

    @contextmanager
    def server(self, verb: str, address: str) -> Iterator[Guard]:
        """See the port."""
        with self._mutex:
            holder = self._server or (self._commands[-1] if self._commands else None)
            if holder:
                raise _locked("server", holder, "start the server when it has ended")
            self._server = _holder(verb, address)
        try:
            yield HeldInMemory("server")
        finally:
            with self._mutex:
                self._server = None

    @contextmanager
    def changing(self, verb: str) -> Iterator[Guard]:
        """See the port."""
        mine = _holder(verb)
        with self._mutex:
            if self._server:
                raise _locked("server", self._server, "stop it, run the command, start it again")
            self._commands.append(mine)
        try:
            yield HeldInMemory("server")
        finally:
            with self._mutex:
                self._commands.remove(mine)

    def repository(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """See the port."""
        return self._one(f"repository {name}", verb, timeout, on_wait, cancel)

    def store(
        self,
        name: str,
        verb: str,
        timeout: float,
        on_wait: OnWait,
        cancel: CancelFlag | None = None,
    ) -> AbstractContextManager[Guard]:
        """See the port."""
        return self._one(f"store {name}", verb, timeout, on_wait, cancel)

    def build(self, build: str, verb: str) -> AbstractContextManager[Guard]:
        """See the port."""
        return self._one(f"build {build}", verb, 0.0, _unheard, None)

    def build_is_dead(self, build: str) -> bool:
        """See the port."""
        with self._mutex:
            return f"build {build}".lower() not in self._exclusive

    def server_holder(self) -> Holder | None:
        """See the port."""
        with self._mutex:
            return self._server

    @contextmanager
    def _one(
        self, name: str, verb: str, timeout: float, on_wait: OnWait, cancel: CancelFlag | None
    ) -> Iterator[Guard]:
        # Names that differ in case alone are one name, and so one lock.
        key = name.lower()
        deadline = time.monotonic() + timeout
        told = False
        while (holder := self._take(key, verb)) is not None:
            if cancel is not None and cancel.is_set():
                raise Cancelled(f"stopped while waiting for {name}")
            if time.monotonic() >= deadline:
                raise _locked(name, holder, "wait until it has ended")
            if not told:
                on_wait(name, holder)
                told = True
            time.sleep(_POLL_SECONDS)
        try:
            yield HeldInMemory(name)
        finally:
            with self._mutex:
                del self._exclusive[key]

    def _take(self, key: str, verb: str) -> Holder | None:
        with self._mutex:
            holder = self._exclusive.get(key)
            if holder is None:
                self._exclusive[key] = _holder(verb)
            return holder


def _holder(verb: str, address: str = "") -> Holder:
    return Holder(os.getpid(), verb, "now", address)


def _unheard(lock: str, holder: Holder | None) -> None:
    del lock, holder


def _locked(lock: str, holder: Holder, advice: str) -> Locked:
    return Locked(
        f"{lock} is in use by `vacmcp {holder.verb}` (pid {holder.pid}); {advice}",
        {"lock": lock, "pid": holder.pid, "verb": holder.verb, "started": holder.started_at},
    )
