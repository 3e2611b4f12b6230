"""What three of the tools answer, as JSON schemas.

Clients check error results against them too, so each admits the error envelope. They name the
fields that are there to be used and forbid no others.
"""

from collections.abc import Iterable
from typing import Any

from ..ports.graph import EdgeKind, Tier

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer"}
_OBJECT: dict[str, Any] = {"type": "object"}
_FLAG: dict[str, Any] = {"type": "boolean"}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(
    texts: str = "", counts: str = "", required: Iterable[str] = (), **others: dict[str, Any]
) -> dict[str, Any]:
    """An object of the named text and number fields beside ``others``."""
    properties = {
        **dict.fromkeys(texts.split(), _TEXT),
        **dict.fromkeys(counts.split(), _COUNT),
        **others,
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": [*required]} if required else schema


def _answer(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**properties, "error": _OBJECT},
        "anyOf": [{"required": [*required]}, {"required": ["error"]}],
    }


_KIND = {"type": "string", "enum": [*map(str, EdgeKind)]}
_LANGUAGES = _list(
    _object("name", "files with_errors", tier={"type": "string", "enum": [*map(str, Tier)]})
)
_RELATIONS = _list(
    _object(
        "caller callee path caller_qualified_name callee_qualified_name",
        required=("caller", "callee", "path", "from_evidence", "to_evidence"),
        kinds=_list(_TEXT),
        from_evidence=_list(_OBJECT),
        to_evidence=_list(_OBJECT),
    )
)
_SIDE = {"description": "context, evidence, definition, untraced; null without the symbol."}

CONTEXTS = _answer(
    {
        "contexts": _list(
            _object("id repository branch revision", required=("id",), members=_list(_OBJECT))
        )
    },
    "contexts",
)
"""What list_contexts answers."""

TRACED_CALLS = _answer(
    {
        "calls": _list(
            _object(
                "caller callee path caller_qualified_name caller_path callee_qualified_name "
                "callee_path",
                "line caller_line callee_line",
                required=("caller", "callee", "path", "line", "kind"),
                kind=_KIND,
            )
        ),
        "context": _OBJECT,
        "coverage": _OBJECT,
        "definition": _object("qualified_name path kind", "line"),
        "depth": _COUNT,
        "direction": _TEXT,
        "evidence": _list(_OBJECT),
        "kinds": _list(_TEXT),
        "languages": _LANGUAGES,
        "next_cursor": _TEXT,
        "note": _TEXT,
        "symbol": _TEXT,
        "total_is_exact": _FLAG,
        "total_matches": _COUNT,
        "truncated": _FLAG,
        "untraced": _object(counts="unresolved candidate inferred external"),
    },
    "calls",
    "context",
    "evidence",
    "symbol",
)
"""What trace_calls answers."""

COMPARED_CALLS = _answer(
    {
        "from": _SIDE,
        "to": _SIDE,
        "presence": {"type": "string", "enum": ["BOTH", "FROM_ONLY", "TO_ONLY"]},
        **dict.fromkeys(
            ("requested_symbol", "from_resolved_symbol", "to_resolved_symbol", "note"), _TEXT
        ),
        **dict.fromkeys(("added", "removed", "unchanged"), _RELATIONS),
        "kinds": _list(_TEXT),
        "languages": _LANGUAGES,
        "coverage": _OBJECT,
        "truncated": _FLAG,
        "next_cursor": _TEXT,
    },
    "from",
    "to",
    "presence",
    "added",
    "removed",
    "unchanged",
)
"""What compare_calls answers."""
