"""The rows of a manifest, and what they say is searched."""

from collections.abc import Iterator, Sequence

from ...model import MemberCoverage, Scope
from .generations import Located
from .languages import HEAD, language_of, sign_of
from .manifests import NO_BLOB, Manifest, Row
from .segments import Codec, Segment
from .tiers import tier_of
from .tree import Leaf


def manifest_rows(leaves: Sequence[Leaf], ordinals: Sequence[int], located: Located) -> list[Row]:
    """One row for each leaf."""
    return list(_rows(leaves, ordinals, located))


def _rows(leaves: Sequence[Leaf], ordinals: Sequence[int], located: Located) -> Iterator[Row]:
    codec = Codec()
    for leaf, ordinal in zip(leaves, ordinals, strict=True):
        if ordinal == NO_BLOB:
            yield Row(leaf.path, ordinal, leaf.skip, "", int(tier_of(leaf.path, False)))
            continue
        segment = located.segments[located.segment[ordinal]]
        blob = int(located.blob[ordinal])
        tier = tier_of(leaf.path, bool(segment.generated[blob]))
        yield Row(leaf.path, ordinal, None, _language(leaf.path, segment, blob, codec), int(tier))


def _language(path: bytes, segment: Segment, blob: int, codec: Codec) -> str:
    sign = sign_of(path)
    if sign:
        facts = segment.facts(blob)
        if facts.sign == sign:
            return facts.language
    return language_of(path, lambda: _head_of(segment, blob, codec)) or ""


def _head_of(segment: Segment, blob: int, codec: Codec) -> bytes:
    """The beginning of a blob's text."""
    found = b""
    first = int(segment.first_block[blob])
    for block in range(first, first + int(segment.block_count[blob])):
        found += segment.text(block, codec)
        if len(found) >= HEAD:
            break
    return found[:HEAD]


def coverage(scope: Scope, manifest: Manifest, located: Located) -> MemberCoverage:
    """How many files are searched, and how many are not, by reason."""
    files, skipped = len(manifest.paths), located.skipped(manifest)
    searched = files - sum(skipped.values())
    return MemberCoverage(scope.repository, scope.revision, files, searched, skipped)
