"""What patterns require: never more than what they match holds, and not vacuously little."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.lexical.documents import as_utf8
from vacmcpd.adapters.lexical.patterns import Pattern, PatternProblem, Target, compile_pattern
from vacmcpd.adapters.lexical.required import AllOf, AnyOf, Literal, analyse

ODD = ("\u212a".encode(), "\u017f".encode())


def holds(required, text):
    match required:
        case None:
            return True
        case Literal(data, folded):
            if folded and any(letter in text for letter in ODD):
                return True
            return data in (text.lower() if folded else text)
        case AllOf(parts):
            return all(holds(part, text) for part in parts)
        case AnyOf(parts):
            return any(holds(part, text) for part in parts)


ATOMS = [
    "a", "b", "c", "k", "s", "K", "S", "foo", "Foo", "bar", "baz", "abc", "é", "É", "ß", "ẞ",
    "日本",
    "ﬀ", "ǆ", r"\.", r"\*", r"\(", " ", "-", "]", "}", "{", "{,2}", "{x}", r"\t", r"\n", r"\r",
    r"\v",
    r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\pL", r"\PL", r"\p{Lu}", r"\p{^Lu}", r"\p{Greek}",
    r"\P{Greek}", r"\pC", r"\p{Common}", r"\p{Any}", "[abc]", "[^abc]", "[a-c]", "[a-z]", "[^a-z]",
    r"[^\n]", r"[\n]", r"[^\s]", r"[\s]", r"[\d-x]", "[]a]", "[^]a]", "[a-]", r"[\]a]",
    "[[:alpha:]]",
    "[[:^alpha:]]", "[[:space:]]", "[[:^space:]x]", "[[:word:]]", "[éÉ]", "[kK]", "[é]", "[\u017f]",
    r"[^\p{Greek}]", r"[^\P{Greek}]", r"[^\pC]", r"[^\PC]", r"[^\P{Cc}]", r"[^\p{^L}]", r"[^\W]",
    r"[^\p{Greek}\n]", r"[^\p{Common}]", "[^[:cntrl:]]", "[^[:^cntrl:]]", r"[\PL]",
    r"[\x61-\x63]", r"[\x{1F600}]", ".", "(?s:.)", "(?s).", "(?-s).", "^", "$", r"\A", r"\z",
    r"\b",
    r"\B", "(?-m:^)", "(?-m:$)", "(?m)$", "(?i)", "(?-i)", "(?i:foo)", "(?-i:foo)", "(?i)bar",
    "(?U)a+", "(?is-m:a.c$)", r"\Qa.b\E", r"\Qa*\E*", r"\Q", r"\x66", r"\x{6f}o", r"\x{4b}",
    r"\101",
    r"\060", r"\07", r"\C", "(?P<n>foo)", "(?<n>bar)", "()", "(|a)", "(?:)", "a|b", "|", "||",
]  # fmt: skip
SUFFIXES = [
    "",
    "",
    "",
    "",
    "*",
    "+",
    "?",
    "*?",
    "+?",
    "??",
    "{2}",
    "{0}",
    "{0,1}",
    "{1,}",
    "{3,5}",
    "{7}",
    "{00}",
    "{02}",
    "{1,02}",
    "{9999999999}",
    "{\u0663}",
]
atoms = st.builds(
    lambda atom, suffix: atom + suffix, st.sampled_from(ATOMS), st.sampled_from(SUFFIXES)
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=5).map("".join),
        st.lists(inner, min_size=1, max_size=4).map(lambda parts: f"({'|'.join(parts)})"),
        st.builds(lambda part, suffix: f"(?:{part}){suffix}", inner, st.sampled_from(SUFFIXES)),
        inner.map(lambda part: f"((?i){part})x"),
    ),
    max_leaves=10,
)
PIECES = [
    "a", "b", "c", "A", "B", "k", "s", "K", "S", "\u212a", "\u017f", "foo", "FOO", "Foo", "bar",
    "BAR",
    "baz", "abc", "aBC", "é", "É", "ß", "ẞ", "ss", "日本", "ﬀ", "ǆ", "ǅ", "a.b", "x", ".", "*",
    "(", " ",
    "-", "]", "0", "7", "\t", "\v", "\n", "\n", "\r\n", "\r", "\x07", "Ω", "ω", "😀", "{2}", "{,2}",
    "{00}", "{02}", "{1,02}", "{9999999999}", "{\u0663}",
]  # fmt: skip
texts = st.lists(
    st.sampled_from([piece.encode() for piece in PIECES] + [b"\xe9", b"\xff"]), max_size=14
)


def matcher_of(pattern, sensitive):
    try:
        return compile_pattern(Pattern(pattern, Target.CONTENT, sensitive), 8 << 20)
    except PatternProblem:
        return None


@settings(max_examples=800, deadline=None)
@given(pattern=patterns, pieces=texts, sensitive=st.booleans())
@example(pattern="xa{3}(?i)?", pieces=[b"x"], sensitive=True)
@example(pattern=r"xa{3}\Q\E*", pieces=[b"x"], sensitive=True)
@example(pattern="kiss", pieces=["\u212ai\u017fs".encode()], sensitive=False)
@example(pattern=r"foo\nbar", pieces=[b"foo\r\nbar"], sensitive=True)
def test_what_matches_holds_what_is_required(pattern, pieces, sensitive):
    matcher = matcher_of(pattern, sensitive)
    if matcher is None:
        return
    raw = as_utf8(b"".join(pieces))
    found = analyse(pattern, sensitive)
    text = raw if found.names_return else raw.replace(b"\r\n", b"\n")
    at = 0
    while at <= len(text) and (hit := matcher.regex.search(text, at)) is not None:
        start, end = hit.span()
        assert holds(found.required, raw)
        assert found.crosses_lines or b"\n" not in text[start:end]
        at = max(end, start + 1)


@settings(max_examples=400, deadline=None)
@given(pattern=patterns, pieces=texts, sensitive=st.booleans())
def test_a_pattern_of_one_line_may_be_looked_for_line_by_line(pattern, pieces, sensitive):
    matcher = matcher_of(pattern, sensitive)
    if matcher is None or not matcher.one_line or matcher.anchored:
        return
    text = as_utf8(b"".join(pieces)).replace(b"\r\n", b"\n")
    whole = [line[0] for line in matcher.lines(text, lambda: None)]
    lines = text.split(b"\n")
    pieces = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    single = [
        number
        for number, piece in enumerate(pieces, start=1)
        if next(matcher.lines(piece, lambda: None), None) is not None
    ]
    assert whole == single


def lit(text, folded=False):
    return Literal(text.encode(), folded)


def both(*texts):
    return AllOf(tuple(lit(text) for text in texts))


def either(*texts):
    return AnyOf(tuple(lit(text) for text in texts))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("foo", lit("foo")),
        ("fo", None),
        ("é€", lit("é€")),
        (r"foo\.bar", lit("foo.bar")),
        (r"\Qa.b(c\E", lit("a.b(c")),
        ("foo.*bar", both("foo", "bar")),
        (r"func\s+New", both("func", "New")),
        (r"func\s+New(Foo|Bar)\(", AllOf((lit("func"), either("NewBar(", "NewFoo(")))),
        ("foo|bar", either("bar", "foo")),
        ("foo|b", None),
        ("(foo|bar)baz", either("barbaz", "foobaz")),
        ("foo?bar", either("fobar", "foobar")),
        ("foo(bar)?", either("foo", "foobar")),
        ("(foo)?bar", either("bar", "foobar")),
        ("(foo)*bar", lit("bar")),
        ("(foo)+bar", both("foo", "bar")),
        ("x{3}", lit("xxx")),
        ("ab{2,4}c", lit("abb")),
        ("(foo){0}bar", lit("bar")),
        ("[ab]cd", either("acd", "bcd")),
        ("[a-z]cde", lit("cde")),
        ("[^a]cde", lit("cde")),
        ("^foo$", lit("foo")),
        (r"\bfoo\b", lit("foo")),
        (r"foo\nbar", both("foo", "bar")),
        (r"ab\ncd", None),
        (r"foo\r\nbar", both("foo", "bar")),
        ("(?i)foo", lit("foo", True)),
        ("(?i)Foo", lit("foo", True)),
        ("foo(?i)BAR", lit("foobar", True)),
        ("(?i:foo)Bar", lit("foobar", True)),
        ("(?i)日本語", lit("日本語")),
        ("(?i)naïvete", lit("vete", True)),
        ("(?i)na(?-i)ïve", lit("naïve", True)),
        ("(?P<name>foo)bar", lit("foobar")),
        ("(?:foo)(?s:.)bar", both("foo", "bar")),
        (r"\x66oo", lit("foo")),
        (r"\x{66}oo", lit("foo")),
        (r"\146oo", lit("foo")),
        (r"\pLfoo", lit("foo")),
        (r"\w+Exception\s+e\)", lit("Exception")),
        ("[a-z]{3}\\d{4}", None),
        ("(foo|bar|baz)\\w*Handler", AllOf((either("bar", "baz", "foo"), lit("Handler")))),
        ("a{,2}bc", lit("a{,2}bc")),
        ("foo{", lit("foo{")),
        ("foo{007}", lit("foo{007}")),
        ("foo{1,02}", lit("foo{1,02}")),
        ("foo{9999999999}", lit("foo{9999999999}")),
        ("foo{\u0663}", lit("foo{\u0663}")),
        ("fo{10}", lit("foooo")),
        ("fo{3,10}", lit("fooo")),
        (".", None),
        ("", None),
    ],
)  # fmt: skip
def test_what_a_pattern_requires(pattern, expected):
    assert analyse(pattern, True).required == expected


def test_the_case_of_a_pattern_that_ignores_it_is_folded():
    assert analyse("Foo", False).required == lit("foo", True)
    assert analyse("(?-i)Foo", False).required == lit("Foo")


@pytest.mark.parametrize(
    ("pattern", "crosses"),
    [
        ("a.b", False), ("(?s)a.b", True), ("(?s:.)", True), (r"\s", True), (r"\S", False),
        (r"[^a]", True), (r"[^a\n]", False), (r"[^\x00-\x1f]", False), (r"[\t-\r]", True),
        (r"\D", True),
        (r"\d", False), (r"\W", True), (r"\pL", False), (r"\PL", True), (r"\p{Common}", True),
        ("[[:space:]]", True), ("[[:alpha:]]", False), ("[[:^alpha:]]", True),
        (r"[^\p{Greek}]", True), (r"[^\PC]", True), (r"[^\P{Cc}]", True), (r"[^\p{^C}]", True),
        (r"[^\P{Lu}]", False), (r"[^\p{^Lu}]", False), (r"[^\pL]", True),
        (r"[^\p{Greek}\n]", False), (r"[^\W]", False), (r"\P{^Lu}", False),
        ("[^[:^cntrl:]]", True), ("[^[:cntrl:]]", False),
        (r"foo$\nbar", True),
        ("foo", False), (r"\Qa\nb\E", False), ("a\nb", True), (r"\x0a", True), (r"\012", True),
    ],
)  # fmt: skip
def test_whether_a_match_may_go_over_a_line_end(pattern, crosses):
    assert analyse(pattern, True).crosses_lines is crosses


@pytest.mark.parametrize(
    ("pattern", "anchored"),
    [
        (r"\Afoo", True), (r"foo\z", True), ("^foo$", False), ("(?-m)^foo", True),
        ("(?-m:a)$", False),
        ("(?-m:foo$)", True), (r"\\A", False), (r"[\^$]", False), (r"\Q\A\E", False),
    ],
)  # fmt: skip
def test_whether_a_pattern_asks_for_the_ends_of_the_text(pattern, anchored):
    assert analyse(pattern, True).anchored is anchored


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (r"\r", True), ("\r", True), (r"\x0d", True), (r"\x{d}", True), (r"\015", True),
        (r"[^\r\n]", True),
        (r"\\r", False), (r"\s", False), ("r", False), (r"\Q\r\E", False),
    ],
)  # fmt: skip
def test_whether_a_pattern_names_a_carriage_return(pattern, names):
    assert analyse(pattern, True).names_return is names


@pytest.mark.parametrize(
    "pattern",
    ["(" * 900 + "a" + ")" * 900, "(a|b|c|d|e|f|g|h)" * 200, "(ab?){1,900}" * 3,
    "[a-\U0010ffff]" * 300,
     "((((((((((x{30}){30})", "(" + "|".join(f"word{at}" for at in range(500)) + ")", r"\8",
     "(?", "[a"],
)  # fmt: skip
def test_a_hostile_pattern_is_read_in_no_time(pattern):
    found = analyse(pattern, False)
    assert found.required is None or isinstance(found.required, (Literal, AllOf, AnyOf))


@given(st.text(alphabet="ab\\()[]{}|*+?^$.-,:QEpPxzAdswn019<>P=!iémU", max_size=30))
@settings(max_examples=1000, deadline=None)
def test_any_text_is_read(text):
    analyse(text, True)
