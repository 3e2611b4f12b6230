"""The query language: what a text means, and where it is wrong."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.lexical import patterns
from vacmcpd.adapters.lexical.patterns import MAX_PROGRAM, Pattern, Target, compile_pattern
from vacmcpd.adapters.lexical.query import (
    MAX_ATOMS,
    MAX_DEPTH,
    MAX_LENGTH,
    And,
    Branch,
    Language,
    NamesOnly,
    Not,
    Or,
    Repository,
    parse,
)
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.ports.search import QueryMode


def word(text, sensitive=False):
    return Pattern(text, Target.ANY, sensitive)


def content(text, sensitive=False):
    return Pattern(text, Target.CONTENT, sensitive)


def name(text, sensitive=False):
    return Pattern(text, Target.NAME, sensitive)


def all_of(*children):
    return And(children)


def any_of(*children):
    return Or(children)


MEANINGS = [
    ("abc", word("abc")),
    ("abc bcd", all_of(word("abc"), word("bcd"))),
    ("abc\tbcd", all_of(word("abc"), word("bcd"))),
    ("\n abc\r\nbcd\n", all_of(word("abc"), word("bcd"))),
    ('"abc bcd"', word("abc bcd")),
    (r'"say \"hi\""', word('say "hi"')),
    (r'"a\\.b"', word(r"a\.b")),
    (r'"a\.b"', word("a.b")),
    (r"a\ b", word(r"a\ b")),
    ('fi"le:bla"', word("file:bla")),
    ('"file:bla"', word("file:bla")),
    ('"or" a', all_of(word("or"), word("a"))),
    ('o"r" a', all_of(word("or"), word("a"))),
    ("ora", word("ora")),
    ("and", word("and")),
    ("OR b", all_of(word("OR", True), word("b"))),
    ("abc or def", any_of(word("abc"), word("def"))),
    ("(abc or def)", any_of(word("abc"), word("def"))),
    ("a b or c d", any_of(all_of(word("a"), word("b")), all_of(word("c"), word("d")))),
    ("a (b or c)", all_of(word("a"), any_of(word("b"), word("c")))),
    ("(a\nb)", all_of(word("a"), word("b"))),
    ("((x) ora b(z(d)))", all_of(word("(x)"), word("ora"), word("b(z(d))"))),
    ("(abc)(de)", word("(abc)(de)")),
    ("(abc)", word("(abc)")),
    ("( abc )", word("abc")),
    ("((x|y) )", word("(x|y)")),
    ("sub-pixel", word("sub-pixel")),
    ("-abc", Not(word("abc"))),
    ("- abc", Not(word("abc"))),
    ("--abc", Not(Not(word("abc")))),
    ("-(a b)", Not(all_of(word("a"), word("b")))),
    ('"-abc"', word("-abc")),
    ("abccase:yes", word("abccase:yes")),
    ("std::vector", word("std::vector")),
    ("http://x", word("http://x")),
    ("f:fs", name("fs")),
    ("file:abc", name("abc")),
    ('file:"a b"', name("a b")),
    ("-file:abc", Not(name("abc"))),
    ("(file:abc)", name("abc")),
    ("(-file:abc) x", all_of(Not(name("abc")), word("x"))),
    ("c:abc", content("abc")),
    ("content:abc", content("abc")),
    ("regex:abc[p-q]", word("abc[p-q]")),
    ("lang:go", Language("Go")),
    ("l:GOLANG", Language("Go")),
    ("lang:c++", Language("C++")),
    ('lang:"emacs lisp"', Language("Emacs Lisp")),
    ("repo:de.o", Repository(Pattern("de.o", Target.REPOSITORY, True))),
    ("r:demo", Repository(Pattern("demo", Target.REPOSITORY, True))),
    ("branch:rel", Branch("rel")),
    ("b:rel", Branch("rel")),
    ("type:file a", NamesOnly(word("a"))),
    ("t:filename a or b", NamesOnly(any_of(word("a"), word("b")))),
    ("(type:file a) b", all_of(NamesOnly(word("a")), word("b"))),
    ("type:filematch a", word("a")),
    ("type:filename type:filematch a", word("a")),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS, ids=[text for text, _ in MEANINGS])
def test_a_query_means_what_zoekt_users_expect(text, meaning):
    assert parse(text).root == meaning


CASES = [
    ("ABC", word("ABC", True)),
    ("aBc[p-q]", word("aBc[p-q]", True)),
    (r"\S\W\pL(?P<Name>a)\x4A[[:^alpha:]]", None),
    (r"\w+foo", None),
    (r"\QAbc\E", word(r"\QAbc\E", True)),
    ("straße", None),
    ("Éa", word("Éa", True)),
    ("abc case:yes", word("abc", True)),
    ("case:yes abc", word("abc", True)),
    ("ABC case:no", word("ABC")),
    ("abc case:auto", word("abc")),
    ('ABC case:"auto"', word("ABC", True)),
    ("abc -f:def case:yes", all_of(word("abc", True), Not(name("def", True)))),
    ("(foo case:yes) bar", all_of(word("foo", True), word("bar"))),
    ("(case:yes foo (bar))", all_of(word("foo", True), word("(bar)", True))),
    ("case:yes (foo ( bar ))", all_of(word("foo", True), word("bar", True))),
    ("case:auto (foo case:yes) bar", all_of(word("foo", True), word("bar"))),
    ("case:yes (foo case:no) bar", all_of(word("foo"), word("bar", True))),
    ("case:no case:yes foo", word("foo", True)),
]


@pytest.mark.parametrize(("text", "meaning"), CASES, ids=[text for text, _ in CASES])
def test_case_matters_when_a_pattern_has_a_capital_or_its_scope_says_so(text, meaning):
    assert parse(text).root == (meaning or word(text))


MODES = [
    (QueryMode.LITERAL, 'file:a "b or -c', word('file:a "b or -c')),
    (QueryMode.LITERAL, " f(x) ", word(r" f\(x\) ")),
    (QueryMode.LITERAL, "a\nb", word("a\nb")),
    (QueryMode.LITERAL, r"\pl.", word(r"\\pl\.")),
    (QueryMode.LITERAL, r"\pL", word(r"\\pL", True)),
    (QueryMode.LITERAL, "(?P<n>", word(r"\(\?P<n>", True)),
    (QueryMode.LITERAL, "case:yes a", word("case:yes a")),
    (QueryMode.REGEX, 'file:a "b or -c', word('file:a "b or -c')),
    (QueryMode.REGEX, " a|b ", word(" a|b ")),
    (QueryMode.REGEX, r"\S+New", word(r"\S+New", True)),
    (QueryMode.REGEX, r"\S+new", word(r"\S+new")),
]


@pytest.mark.parametrize(("mode", "text", "meaning"), MODES)
def test_outside_the_language_the_whole_text_is_one_pattern(mode, text, meaning):
    assert parse(text, mode).root == meaning


@pytest.mark.parametrize("mode", QueryMode)
def test_nothing_is_no_query_in_any_mode(mode):
    with pytest.raises(QueryError, match="nothing to search"):
        parse("", mode)


def test_an_expression_that_can_not_be_read_has_its_place_in_the_text():
    with pytest.raises(QueryError) as caught:
        parse(' a "[b', QueryMode.REGEX)
    assert caught.value.details["position"] == 4


ERRORS = [
    ("", 0, "nothing to search"),
    ("  ", 0, "nothing to search"),
    ("( )", 0, "nothing to search"),
    ("a (  )", 2, "nothing to search"),
    ("case:yes", 0, "nothing to search"),
    ("type:file", 0, "nothing to search"),
    ('""', 0, "empty"),
    ("a file:", 2, "empty"),
    ('file:""', 0, "empty"),
    ("--", 1, "- excludes"),
    ("a -", 2, "- excludes"),
    ("(a -)", 3, "- excludes"),
    ("-or", 0, "- excludes"),
    ("- or", 0, "- excludes"),
    ("-case:yes a", 0, "- excludes"),
    ('a "bc', 2, "never closed"),
    ('"a\\', 0, "never closed"),
    ('"a\\"', 0, "never closed"),
    ("ab\\", 2, "backslash"),
    ("case:foo a", 0, "yes, no, auto"),
    ("a type:x", 2, "filematch"),
    ("a type:repo", 2, "type:repo"),
    ("sym:a", 0, "sym:"),
    ("x (sym:a or b)", 3, "sym:"),
    ("archived:yes", 0, "archived:"),
    ("fork:yes", 0, "fork:"),
    ("public:no", 0, "public:"),
    ("meta.license:x", 0, "meta:"),
    ("lang:pyton", 0, "did you mean Python"),
    ("lang:qqqqqqq", 0, "does not know"),
    ("abc or", 4, '"or"'),
    ("or abc", 0, '"or"'),
    ("def or or abc", 7, '"or"'),
    ("(a or)", 3, '"or"'),
    ("( or a)", 2, '"or"'),
    ("type:file or", 10, '"or"'),
    (")", 0, "closes nothing"),
    ("foo)", 3, "closes nothing"),
    ("a b) c", 3, "closes nothing"),
    ("(a b))", 5, "closes nothing"),
    ("(", 0, "nothing to search"),
    ("a (b c", 2, "never closed"),
    ("a (b (c d)", 2, "never closed"),
    ("(foo", 0, "missing )"),
    ("x [a-z", 2, "missing ]"),
    ("x fo[a-z", 4, "missing ]"),
    ('x "f [a-z"', 5, "missing ]"),
    ('x "a\\"b["', 7, "missing ]"),
    ('"Process("', 1, "missing )"),
    ("file:a[b", 6, "missing ]"),
    ("foo(?=bar)", 3, "invalid perl operator"),
    (r"a (?<!b)c", 2, "invalid perl operator"),
    (r"(a)\1", 3, "invalid escape"),
    (r"\é", 0, "invalid escape"),
    (r"x foo\é", 5, "invalid escape"),
    ("a{1001}", 1, "invalid repetition size"),
    ("x **", 2, "no argument for repetition"),
    (r"(?i)\pL{300}", 0, "too complicated"),
    (r"\pL{900}", 0, "too large"),
    ("repo:[", 5, "missing ]"),
    ("ok \ud800", 3, "surrogate"),
]


@pytest.mark.parametrize(("text", "position", "reason"), ERRORS)
def test_a_query_that_can_not_be_read_says_where_and_why(text, position, reason, capfd):
    with pytest.raises(QueryError) as caught:
        parse(text)
    error = caught.value
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details["position"] == position
    assert error.details["query"] == text.encode("utf-8", "replace").decode()
    assert reason in error.message
    assert capfd.readouterr() == ("", "")


def test_a_query_is_bounded_in_length_words_and_depth():
    assert parse("a" * MAX_LENGTH)
    assert parse(" ".join(["a"] * MAX_ATOMS))
    assert parse("( " * (MAX_DEPTH - 1) + "a" + " )" * (MAX_DEPTH - 1))
    for text in (
        "a" * (MAX_LENGTH + 1),
        "é" * (MAX_LENGTH // 2 + 1),
        " ".join(["a"] * (MAX_ATOMS + 1)),
        "( " * (MAX_DEPTH + 1) + "a" + " )" * (MAX_DEPTH + 1),
        "-" * (MAX_DEPTH + 1) + "a",
        "(" * 3000 + " a",
        "-(" * 1000 + "a b" + ")" * 1000,
    ):
        with pytest.raises(QueryError) as caught:
            parse(text)
        assert caught.value.code is WireCode.INVALID_ARGUMENT
        assert len(caught.value.message) < 1000


@pytest.mark.parametrize("letter", ["k", "s", "\N{GREEK SMALL LETTER IOTA}", "a"])
def test_the_longest_text_can_be_looked_for_as_it_stands(letter):
    text = letter * (MAX_LENGTH // len(letter.encode()))
    query = parse(text, QueryMode.LITERAL)
    matcher = query.matchers[query.root]
    inside = f"x\N{KELVIN SIGN}{text}".encode()
    assert matcher.found_in(inside)
    assert not matcher.found_in(inside[:-2])


def test_a_pattern_is_compiled_once_and_a_plain_string_not_at_all(monkeypatch):
    compiled = []
    make = patterns._compile
    monkeypatch.setattr(
        patterns, "_compile", lambda *given: compiled.append(given[0]) or make(*given)
    )
    query = parse(r"plain Plain\. a.*b content:a.*b -a.*b")
    assert sorted(compiled) == ["(?m)a.*b", "(?m)a.*b"]
    for matcher in query.matchers.values():
        for text in (b"a line\nplain", b"acb\nPlain."):
            list(matcher.lines(text, lambda: None))
            matcher.found_in(text)
    assert len(compiled) == 2


@pytest.mark.parametrize("sensitive", [True, False])
def test_a_count_is_that_of_the_lines_however_long_the_text(sensitive):
    matcher = compile_pattern(word("needle", sensitive), 1 << 20)
    for size in (1, 2_000, 40_000):
        text = b"a needle, a needle\nNEEDLE\nhay\n" * size + b"needle"
        assert matcher.count(text, lambda: None) == size * (1 if sensitive else 2) + 1


def test_a_pattern_too_large_for_a_list_is_left_to_the_names_themselves():
    text = r"[\t-\r]{900}" * 9
    matcher = compile_pattern(word(text), 64 << 20)
    assert matcher.regex.programsize <= MAX_PROGRAM
    assert matcher.inside_lines is None


def test_many_large_patterns_share_one_bounded_memory():
    with pytest.raises(QueryError, match="too large"):
        parse(" ".join([r"\pL{100}"] * MAX_ATOMS))


FRAGMENTS = st.sampled_from(
    [
        *'()-"\\ \n\t[]{}*+?.|^$:aB1é',
        "or",
        " or ",
        "file:",
        "f:",
        "-file:",
        "lang:",
        "lang:go",
        "case:yes",
        "type:file ",
        "content:",
        "regex:",
        "sym:",
        "repo:",
        "branch:",
        "archived:",
        "meta.x:",
        "(?i)",
        "\\é",
        "(?P<n>",
        r"\Q",
        r"\pL",
        "[[:alpha:]]",
        "{2,1001}",
        "\x00",
        "\ud800",
        "\U0001f600",
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(FRAGMENTS, max_size=25).map("".join)))
@example("\x00")
@example("(?i")
@example("(?P<n")
def test_any_text_is_a_query_or_an_invalid_argument_with_a_position(text):
    error = failure_of(text)
    if error is not None:
        assert error.code is WireCode.INVALID_ARGUMENT
        assert 0 <= error.details["position"] <= len(text)
        error.details["query"].encode("utf-8")
        error.message.encode("utf-8")


def failure_of(text):
    try:
        query = parse(text)
    except QueryError as error:
        return error
    # Nothing that was accepted may fail once files are read.
    for matcher in query.matchers.values():
        assert matcher.regex
    return None
