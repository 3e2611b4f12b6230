"""Who holds a lock, written beside it: for messages only, never the test of liveness."""

import json
import logging
import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...ports.locks import Holder

logger = logging.getLogger(__name__)

_MAX_BYTES = 4096


def this_process(verb: str, address: str = "") -> Holder:
    """A note about this process, now."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return Holder(os.getpid(), verb, now, address)


def write_note(path: Path, holder: Holder) -> None:
    """Put the note in place by rename; one that can't be written is only logged."""
    note = {
        "pid": holder.pid,
        "verb": holder.verb,
        "started": holder.started_at,
        "address": holder.address,
    }
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(note, file)
        temporary.replace(path)
    except OSError as error:
        # The lock itself is held, which is what counts.
        logger.warning("lock_note_not_written", extra={"reason": error.strerror})
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def read_note(path: Path) -> Holder | None:
    """The note, or None when there is none that can be understood."""
    try:
        with path.open("rb") as file:
            note = json.loads(file.read(_MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(note, dict) or not isinstance(note.get("pid"), int):
        return None
    return Holder(note["pid"], _text(note, "verb"), _text(note, "started"), _text(note, "address"))


def remove_note(path: Path) -> None:
    """Take the note away while the lock is still held; one that stays is only logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("lock_note_not_removed", extra={"reason": error.strerror})


def describe(holder: Holder | None) -> str:
    """The holder in words, for a message."""
    if holder is None:
        return "another process"
    address = f", at {holder.address}" if holder.address else ""
    return f"`vacmcp {holder.verb}` (pid {holder.pid}, since {holder.started_at}{address})"


def details(lock: str, holder: Holder | None) -> dict[str, Any]:
    """The holder for a program."""
    if holder is None:
        return {"lock": lock}
    return {"lock": lock, "pid": holder.pid, "verb": holder.verb, "started": holder.started_at}


def _text(note: dict[str, Any], key: str) -> str:
    value = note.get(key)
    # A note is read back from a file that anybody with the directory may have written.
    return (
        "".join(char for char in value if char.isprintable())[:200]
        if isinstance(value, str)
        else ""
    )
