"""Frames between the server and a worker: one byte of kind, four of length, then the body."""

import struct
from typing import BinaryIO

HEADER = struct.Struct(">cI")

BUILD = b"B"
"""To a worker, first of all: the pickled factory of its engine."""
REQUEST = b"R"
"""To a worker: eight bytes of number, then the pickled request."""
CANCEL = b"C"
"""To a worker: the number of the request that nobody waits for any more."""
PING = b"P"
"""To a worker, which answers PONG even while it is busy."""
QUIT = b"Q"
"""To a worker: close the engine and end."""
PONG = b"O"
"""From a worker."""
UP = b"U"
"""From a worker that built its engine: four bytes, the members of the largest context."""
BROKEN = b"!"
"""From a worker that can't build its engine: the error envelope as JSON."""

NUMBER = struct.Struct(">Q")
COUNT = struct.Struct(">I")


def pack(kind: bytes, body: bytes = b"") -> bytes:
    """One frame."""
    return HEADER.pack(kind, len(body)) + body


def read(stream: BinaryIO) -> tuple[bytes, bytes] | None:
    """The next frame of a blocking stream; None when it ended."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    kind, length = HEADER.unpack(header)
    body = stream.read(length)
    return (kind, body) if len(body) == length else None
