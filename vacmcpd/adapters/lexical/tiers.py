"""How far back in an answer a file's matches stand: what people wrote comes first."""

import re
from enum import IntEnum


class Tier(IntEnum):
    """Lower comes first."""

    SOURCE = 0
    TEST = 1
    VENDORED = 2
    GENERATED = 3


_VENDORED = re.compile(
    rb"(?:^|/)(?:vendor|vendored|third[_-]?party|node_modules|bower_components|Godeps|"
    rb"deps|external|extern|\.yarn|Pods|Carthage)/",
    re.IGNORECASE,
)
_TEST = re.compile(
    rb"(?:^|/)(?:tests?|testing|testdata|__tests__|spec|specs|fixtures?|mocks?|e2e)/"
    rb"|(?:^|/)(?:test_[^/]*|conftest\.py)$"
    rb"|[._-](?:test|tests|spec|mock)\.[^/.]+$"
    rb"|_test\.[^/.]+$"
    rb"|[a-z0-9](?:Tests?|TestCase|Spec|IT)\.[^/.]+$"
)
_GENERATED_NAME = re.compile(
    rb"(?:\.pb\.(?:go|cc|h)|_pb2(?:_grpc)?\.pyi?|\.(?:min|bundle)\.(?:js|css)|[._]generated\.[^/]+"
    rb"|\.designer\.cs|\.g\.dart|(?:^|/)(?:package-lock\.json|yarn\.lock|Cargo\.lock|go\.sum"
    rb"|poetry\.lock|composer\.lock|Gemfile\.lock|pnpm-lock\.yaml))$"
)
_GENERATED_TEXT = re.compile(
    rb"@generated\b|\bDO NOT EDIT\b|\b(?:auto(?:matically|-|)|code) ?generated (?:by|from|file)\b",
    re.IGNORECASE,
)
_HEAD = 1024


def is_generated(text: bytes) -> bool:
    """Whether the beginning of a file says that a program wrote it."""
    return _GENERATED_TEXT.search(text, 0, _HEAD) is not None


def tier_of(path: bytes, generated: bool) -> Tier:
    """The tier of a file; ``generated`` is what its content says."""
    if generated or _GENERATED_NAME.search(path):
        return Tier.GENERATED
    if _VENDORED.search(path):
        return Tier.VENDORED
    return Tier.TEST if _TEST.search(path) else Tier.SOURCE
