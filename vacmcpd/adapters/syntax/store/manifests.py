"""Manifests: which rows of a store one tree has, and what its graph comes to.

A manifest is named by its tree's id. Rows that versions share are the same ordinals, so a further
version's manifest is small: where its rows follow one another there is nothing to write.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ....ports.graph import LanguageCoverage, Tier
from ...container import Container, Damaged, Writer
from .packs import Frame, column, read_column

KIND, FORMAT = "graph manifest", 1
ROLE = "manifest."


@dataclass(frozen=True, slots=True)
class Manifest:
    """A version: its ``rows`` in the order of their paths.

    ``made`` names what made the facts and links: two versions of the same can be compared and
    shared. ``proof`` is what :func:`proof_of` makes of the rows. ``sites`` are call sites by kind.
    """

    tree: str
    made: str
    proof: str
    rows: npt.NDArray[np.uint32]
    languages: tuple[LanguageCoverage, ...] = ()
    sites: dict[str, int] = field(default_factory=dict)


def proof_of(rows: Iterable[tuple[bytes, str]]) -> str:
    """A digest of the paths and what stands there, in the order of the paths."""
    digest = hashlib.sha256()
    digest.update(b"\n".join(b"%b\0%b" % (path, oid.encode()) for path, oid in rows))
    return digest.hexdigest()


def write(manifest: Manifest) -> Iterator[Frame]:
    """The file of a manifest."""
    facts = {
        "tree": manifest.tree,
        "made": manifest.made,
        "proof": manifest.proof,
        "languages": [
            [each.name, str(each.tier), each.files, each.with_errors] for each in manifest.languages
        ],
        "sites": dict(manifest.sites),
    }
    writer = Writer(KIND, FORMAT, facts)
    # Most follow the one before, and a run of ones compresses to nothing.
    steps = np.diff(manifest.rows.astype("<i8"), prepend=0)
    yield from column(writer, "rows", steps.astype("<i4"))
    yield from writer.end()


def read(data: memoryview) -> Manifest:
    """A manifest; :class:`...container.Damaged` when it is not whole."""
    held = Container(data, KIND, FORMAT)
    facts = held.facts
    rows = np.cumsum(read_column(held, "rows", np.dtype("<i4")), dtype=np.int64)
    if rows.size and int(rows.min()) < 0:
        raise Damaged("a row that can't be")
    return Manifest(
        str(facts["tree"]),
        str(facts["made"]),
        str(facts["proof"]),
        rows.astype(np.uint32),
        tuple(
            LanguageCoverage(name, Tier(tier), files, errors)
            for name, tier, files, errors in facts["languages"]
        ),
        dict(facts["sites"]),
    )
