"""The seven tools: names, words, schemas, and the request that each call becomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..engine import (
    CompareCallsRequest,
    CompareCodeRequest,
    GetCodeRequest,
    ListContextsRequest,
    Request,
    SearchCodeRequest,
    SearchHistoryRequest,
    TraceCallsRequest,
)
from ..ports.graph import EdgeKind
from ..ports.search import QueryMode
from .arguments import Argument, Kind, check
from .schemas import COMPARED_CALLS, CONTEXTS, TRACED_CALLS

ANNOTATIONS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
"""All four on every tool: absent hints are read as the dangerous ones."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. ``build`` makes the request of checked arguments."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    build: Callable[..., Request]
    output_schema: Mapping[str, Any] | None = None

    def request(self, given: Mapping[str, Any] | None) -> Request:
        """The request of a call's arguments; absent and null are ``{}``.

        Raises INVALID_ARGUMENT.
        """
        return self.build(**check(self.name, self.arguments, given or {}))

    def input_schema(self) -> dict[str, Any]:
        """A plain object schema; ranges are the query's to refuse, so it names none."""
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {argument.name: argument.schema() for argument in self.arguments},
        }
        required = [argument.name for argument in self.arguments if argument.required]
        if required:
            schema["required"] = required
        schema["additionalProperties"] = False
        return schema


def _text(name: str, description: str, *, required: bool = False) -> Argument:
    return Argument(name, Kind.STRING, description, required)


def _number(name: str, description: str, *, required: bool = False) -> Argument:
    return Argument(name, Kind.INTEGER, description, required)


_CONTEXT = _text("context", "Id of a context, as list_contexts reports it.", required=True)
_TRACED_CONTEXT = _text("context", "Id of a context, as list_contexts reports it.")
_FROM = _text("from_context", "Id of the context on the old side.")
_TO = _text("to_context", "Id of the context on the new side.")
_ONE_REPOSITORY = _text(
    "repository", "One repository of the context; needed when it has several, optional otherwise."
)
_ANY_REPOSITORY = _text(
    "repository", "One repository of the context to stay in; all of them when left out."
)
_SYMBOL = _text(
    "symbol",
    "Name of a function, method, constructor or class: bare (add), with its type (Cart.add), "
    "qualified as answers give it, or after a path (shop/cart.py:add).",
)
_DIRECTION = _text("direction", "callers: what calls the symbol; callees: what the symbol calls.")
_DEPTH = _number("depth", "How many calls away to walk, 1 to 5.")
_KINDS = Argument(
    "kinds",
    Kind.ARRAY,
    "Kinds of calls to walk; resolved and dispatch when left out. resolved: the function that the "
    "language's rules name. dispatch: an override or implementation that may run. inferred: "
    "reached by following values. candidate: any function of the name that is called, unproven. "
    "external: code outside the repository.",
    choices=tuple(map(str, EdgeKind)),
)
_LIMIT = _number("limit", "Most entries to return; a default applies when left out.")
_MAX_TOKENS = _number("max_tokens", "Size of the answer in tokens, up to 25000; 10000 by default.")
_CURSOR = _text("cursor", "next_cursor of an earlier answer to the same call, for what follows it.")

TOOLS: tuple[Tool, ...] = (
    Tool(
        "compare_calls",
        "Compare calls between two versions",
        "Calls around one symbol that were added, removed or kept between two contexts of the "
        "same repository. A relation is one qualified caller, qualified callee and file, with "
        "the places of its calls on both sides; one whose lines only moved is unchanged. A "
        "symbol that only one side has is an answer: presence is FROM_ONLY or TO_ONLY.",
        (
            _FROM,
            _TO,
            _ONE_REPOSITORY,
            _SYMBOL,
            _DIRECTION,
            _DEPTH,
            _KINDS,
            _LIMIT,
            _MAX_TOKENS,
            _CURSOR,
        ),
        CompareCallsRequest,
        COMPARED_CALLS,
    ),
    Tool(
        "compare_code",
        "Compare a file between two versions",
        "Line-by-line difference of one file between two contexts of the same repository: "
        "whether it was ADDED, REMOVED, MODIFIED or is UNCHANGED, and the hunks with three lines "
        "around each change. The path is literal and names a single file.",
        (
            _text("from_context", _FROM.description, required=True),
            _text("to_context", _TO.description, required=True),
            _ONE_REPOSITORY,
            _text("path", "File, relative to the root of the repository.", required=True),
            _MAX_TOKENS,
            _CURSOR,
        ),
        CompareCodeRequest,
    ),
    Tool(
        "get_code",
        "Read lines of a file",
        "Lines of one file exactly as they stand in the commit that the context is pinned to, "
        "with the full commit id. Lines count from 1 and both ends are included. A range that "
        "leaves the file is refused with its number of lines; a long one stops at a whole line "
        "and end_line says which.",
        (
            _CONTEXT,
            _ONE_REPOSITORY,
            _text("path", "File, relative to the root of the repository.", required=True),
            _number("start_line", "First line, from 1.", required=True),
            _number("end_line", "Last line, included.", required=True),
            _MAX_TOKENS,
        ),
        GetCodeRequest,
    ),
    Tool(
        "list_contexts",
        "List the contexts",
        "The contexts that can be asked about. A context is one version of the code: one or "
        "several repositories, each at one commit that never moves. Every other tool takes a "
        "context id from this list.",
        (),
        ListContextsRequest,
        CONTEXTS,
    ),
    Tool(
        "search_code",
        "Search code",
        "Lines that match a query in the files of one context, best first, with path, line and "
        "the columns of the hit. Query: words and quoted phrases, each a regular expression (a "
        "file has to hold all), or, - to exclude, parentheses, file: and lang: filters, case:yes. "
        "For a piece of code as it stands use mode literal, where nothing needs escaping. The "
        "answer says how many files were searched and which kinds were skipped.",
        (
            _CONTEXT,
            _ANY_REPOSITORY,
            _text(
                "query",
                'What to find, e.g. "func NewHandler" file:\\.go$ -file:_test',
                required=True,
            ),
            Argument(
                "mode",
                Kind.STRING,
                "How the query is read. zoekt, the default: words, phrases and filters. literal: "
                "exactly this text, in content or path; brackets, dots, quotes and backslashes "
                "stand for themselves. regex: one RE2 expression, blanks and quotes included. In "
                "each, case counts once the query has a capital letter.",
                choices=tuple(map(str, QueryMode)),
            ),
            _number("context_lines", "Lines to show before and after each match, 0 to 10."),
            Argument(
                "exact_total",
                Kind.BOOLEAN,
                "Count every match even where that takes longer; otherwise total_matches may be "
                "a lower bound, and total_is_exact tells.",
            ),
            _LIMIT,
            _MAX_TOKENS,
            _CURSOR,
        ),
        SearchCodeRequest,
    ),
    Tool(
        "search_history",
        "Search the commit history",
        "Commits reachable from the pinned commit, newest first, one entry for each file that a "
        "commit touched; merges are left out. Filters narrow together: words of the message, "
        "a string whose number of occurrences changed, a path. Without filters it is the log.",
        (
            _CONTEXT,
            _ANY_REPOSITORY,
            _text("query", "Text in the commit message, in any case."),
            _text("symbol", "Exact string that a commit added or removed."),
            _text("path", "File, or directory with all below it."),
            _LIMIT,
            _MAX_TOKENS,
            _CURSOR,
        ),
        SearchHistoryRequest,
    ),
    Tool(
        "trace_calls",
        "Trace calls",
        "The functions that call a symbol, or that it calls, up to five calls away, from the "
        "call graph of the pinned commit. One row a call: its path and line, its kind, and where "
        "both functions are defined. An empty answer says how many calls of the name could not "
        "be resolved, and untraced counts them. A name that fits several functions is refused "
        "with the candidates, each of which can be given as the symbol.",
        (
            _TRACED_CONTEXT,
            _ONE_REPOSITORY,
            _SYMBOL,
            _DIRECTION,
            _DEPTH,
            _KINDS,
            _LIMIT,
            _MAX_TOKENS,
            _CURSOR,
        ),
        TraceCallsRequest,
        TRACED_CALLS,
    ),
)

BY_NAME: Mapping[str, Tool] = {tool.name: tool for tool in TOOLS}
