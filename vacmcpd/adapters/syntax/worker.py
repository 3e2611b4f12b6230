"""A process that parses: batches of files in by standard input, facts out by standard output.

It may die of what it parses; :mod:`.workers` starts another. It imports little, to start fast.

A message is four bytes of length, big-endian, and MessagePack: first an empty list from here,
then batches in, each a list of :class:`Job`, and a :class:`Parsed` out for each job in order.
"""

import gc
import os
import struct
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import IO

import msgspec

from .deep import with_room
from .facts import FileFacts
from .languages.registry import Language
from .parsing import parse
from .skips import Skip
from .store.coding import pack_facts

_LENGTH = struct.Struct(">I")
_MEMORY = 4 << 30
"""Bytes of address space; more than any file takes that a person wrote."""
_COLLECT_EVERY = 16
_MISTAKES = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NameError,
    TypeError,
    ValueError,
)
"""What an extractor that has not thought of something raises; the next file is no worse for it."""


class Job(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A file to parse: its language, the module that has it, and its text as UTF-8."""

    language: str
    module: str
    content: bytes


class Parsed(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What became of a file: its facts as bytes, or why there are none."""

    facts: bytes = b""
    errors: int = 0
    namespace: str = ""
    skip: str = ""


_jobs = msgspec.msgpack.Decoder(list[Job])


def main() -> None:
    """Serve until standard input ends."""
    gc.disable()
    _bound_memory()
    # What a library prints must not come between the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    send(out, msgspec.msgpack.encode([]))
    with_room(lambda: _serve(sys.stdin.buffer, out))


def _serve(source: IO[bytes], out: IO[bytes]) -> None:
    batches = 0
    while (message := receive(source)) is not None:
        for job in _jobs.decode(message):
            send(out, msgspec.msgpack.encode(parsed(job)))
        batches += 1
        if batches % _COLLECT_EVERY == 0:
            gc.collect()


def parsed(job: Job) -> Parsed:
    """One file's facts."""
    try:
        facts: FileFacts = parse(_language(job.module, job.language), job.content)
        return Parsed(pack_facts(facts), facts.errors, facts.namespace)
    except RecursionError:
        return Parsed(skip=Skip.TOO_DEEP)
    except _MISTAKES:
        return Parsed(skip=Skip.CRASHED)


@cache
def _language(module: str, name: str) -> Language:
    # Importing them all would take as long as parsing a hundred files.
    found: tuple[Language, ...] = import_module(module).LANGUAGES
    return next(language for language in found if language.name == name)


def send(out: IO[bytes], message: bytes) -> None:
    """Write one message."""
    out.write(_LENGTH.pack(len(message)))
    out.write(message)
    out.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """The next message; None at the end, also when that is in the middle of one."""
    head = source.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    message = source.read(size)
    return message if len(message) == size else None


def _bound_memory() -> None:
    """Windows has no such limit for a process alone."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
        # Some systems know the limit and refuse it.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    main()
