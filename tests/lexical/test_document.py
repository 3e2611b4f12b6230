"""The document of the language says what the parser does."""

import re
from pathlib import Path

import pytest

from vacmcpd.adapters.lexical import parse
from vacmcpd.adapters.lexical.files import SNIPPET_LIMIT
from vacmcpd.adapters.lexical.query import MAX_ATOMS, MAX_DEPTH, MAX_LENGTH
from vacmcpd.adapters.lexical.tokens import FIELDS
from vacmcpd.errors import QueryError

DOCUMENT = (Path(__file__).parents[2] / "docs" / "query-language.md").read_text(encoding="utf-8")
EXAMPLES = re.search(r"```query\n(.*?)```", DOCUMENT, re.DOTALL)[1].splitlines()
INLINE = [
    '"f\\\\(x, y\\\\)"',
    '"->"',
    '"case: x"',
    'lang:"emacs lisp"',
    "file:^src/.*\\.go$",
    "-content:license lang:go",
    "file:\\.proto$",
    "(?s)begin.*end",
]
REFUSED = ["sym:Name", "type:repo x", "archived:yes", "( )", 'file:""', '"("', "lang:nolanguage"]


@pytest.mark.parametrize("query", [*EXAMPLES, *INLINE])
def test_an_example_of_the_document_can_be_read(query):
    assert query in DOCUMENT
    assert parse(query).text == query


@pytest.mark.parametrize("query", REFUSED)
def test_what_the_document_says_is_refused_is_refused(query):
    with pytest.raises(QueryError):
        parse(query)


def test_every_field_and_limit_is_documented():
    for field in FIELDS:
        assert f"`{field}:" in DOCUMENT or f"{field}." in DOCUMENT
    for limit in (MAX_LENGTH, MAX_ATOMS, MAX_DEPTH, SNIPPET_LIMIT):
        assert f"{limit:,}" in DOCUMENT
