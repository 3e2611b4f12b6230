"""The list of names against asking each name by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.lexical.names import Names
from vacmcpd.adapters.lexical.patterns import (
    Pattern,
    PatternProblem,
    Target,
    compile_pattern,
    folds_alone,
)

PIECES = ["a", "A", "b", "/", ".", "go", "k", "\u212a", "s", "\u017f", "é", "É", "\n", " ", "_test"]
names = st.lists(st.lists(st.sampled_from(PIECES), max_size=5).map("".join), max_size=8)
patterns = st.lists(
    st.sampled_from(
        [
            *PIECES,
            "^",
            "$",
            "[^/]+",
            "[^a]",
            r"\.go$",
            r"\s",
            ".",
            "(a|b)",
            "*",
            r"\A",
            r"\z",
            r"\n",
            r"\b",
            "(?s).",
            "k+",
            "(?-m)^",
        ]
    ),
    min_size=1,
    max_size=4,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(names=names, pattern=patterns, sensitive=st.booleans())
def test_a_pattern_is_found_in_the_list_where_it_is_found_in_each_name(names, pattern, sensitive):
    raw = [name.encode() for name in names]
    try:
        matcher = compile_pattern(Pattern(pattern, Target.NAME, sensitive), 1 << 20)
    except PatternProblem:
        return
    expected = [matcher.found_in(name) for name in raw]
    assert Names(raw).matching(matcher).tolist() == expected


def test_a_pattern_too_large_for_the_list_is_asked_of_each_name():
    matcher = compile_pattern(Pattern(r"[\t-\r]{900}" * 9 + "|b", Target.NAME, True), 64 << 20)
    assert matcher.inside_lines is None
    assert Names([b"abc", b"", b"c"]).matching(matcher).tolist() == [True, False, False]


@pytest.mark.parametrize("letter", ["\u212a", "\u017f"])
def test_a_letter_that_folds_to_ascii_is_not_missed(letter):
    matcher = compile_pattern(
        Pattern("k" if letter == "\u212a" else "s", Target.NAME, False), 1 << 20
    )
    assert Names([letter.encode(), b"x"]).matching(matcher).tolist() == [True, False]


def test_no_other_letter_folds_to_ascii():
    letters = "".join(
        chr(code) for code in range(0x80, 0x110000) if not 0xD800 <= code <= 0xDFFF
    ).encode()
    matcher = compile_pattern(Pattern("[a-z]", Target.CONTENT, False), 1 << 20)
    folding = matcher.regex
    found, at = [], 0
    while (hit := folding.search(letters, at)) is not None:
        start, at = hit.span()
        found.append(letters[start:at])
    assert found == [b"\xc5\xbf", b"\xe2\x84\xaa"]
    assert [folds_alone(letter) for letter in found] == [False, False]
