"""The index against the scanner: the same matches, whatever the query and the tree."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder, EmbeddedSearch
from vacmcpd.errors import QueryError
from vacmcpd.model import Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.search import QueryMode, SearchQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.objects import MemoryObjects

ALL = 1_000_000


class Pair:
    """Trees of one repository, indexed one after the other, and a scanner over the same."""

    def __init__(self, *trees, max_file_bytes=64 * 1024 * 1024):
        self.objects, self.artifacts = MemoryObjects(), MemoryArtifacts()
        builder = EmbeddedBuilder(self.objects, self.artifacts, max_file_bytes=max_file_bytes)
        state = StoreState()
        self.revisions = []
        for files in trees:
            target = BuildTarget("ctx", "demo", "main", self.objects.commit("demo", files))
            built = builder.build(target, state, lambda *step: None, None)
            state = StoreState(built.files, state.live | {built.artifact.key})
            self.revisions.append(target.revision)
        self.files = state.files
        self.index = EmbeddedSearch(self.objects, self.artifacts, lambda _: self.files)
        self.scan = ScanSearch(self.objects, max_file_bytes=max_file_bytes)
        # The scanner counts what it read, and a filter may let it read less.
        everything = range(len(trees))
        self.covered = [
            self._ask(self.scan, "content:.", at, QueryMode.ZOEKT, 0, 0).coverage
            for at in everything
        ]

    def page(self, text, at=-1, mode=QueryMode.ZOEKT, offset=0, limit=ALL, **options):
        return self._ask(self.index, text, at, mode, offset, limit, **options)

    def _ask(self, provider, text, at, mode, offset, limit, **options):
        scope = Scope("ctx", Member("demo", "main", self.revisions[at]))
        query = SearchQuery(text, offset, limit, mode=mode, **options)
        return provider.search(scope, query, Budget("search", provider.name, 120.0))

    def check(self, text, mode=QueryMode.ZOEKT, **options):
        """Both find the same, in every tree; how many matches the last one has."""
        for at in range(len(self.revisions)):
            found = self._ask(self.index, text, at, mode, 0, ALL, **options)
            expected = self._ask(self.scan, text, at, mode, 0, ALL, **options)
            assert sorted(map(facts, found.matches)) == sorted(map(facts, expected.matches)), text
            assert found.total == expected.total == len(found.matches)
            assert found.total_is_exact
            assert found.coverage == self.covered[at]
        return found.total


def facts(match):
    return (
        match.path,
        match.line,
        match.snippet,
        match.file_name,
        match.span,
        match.before,
        match.after,
    )


# Atoms of patterns that exercise every rule of the literal extractor and of the block reader.
ATOMS = [
    "foo",
    "Foo",
    "FOO",
    "kelvin",
    "Kelvin",
    "sort",
    "ssss",
    "日本語",
    "naïve",
    "é",
    "emoji😀",
    "func",
    "handler",
    "New",
    "x",
    "ab",
    "abc",
    "aBc",
    r"\.",
    r"\(",
    " ",
    r"\t",
    r"\s",
    r"\S",
    r"\w",
    r"\d",
    r"\W",
    "[abc]",
    "[^a]",
    "[^a\\n]",
    "[a-f]",
    "[A-Z]",
    "[[:alpha:]]",
    r"\pL",
    r"\p{Greek}",
    ".",
    "^",
    "$",
    r"\b",
    r"\B",
    r"\A",
    r"\z",
    r"\n",
    r"\r",
    "\\x66oo",
    r"\Qf.o\E",
    "(?i)Foo",
    "(?i:foo)",
    "(?s).",
    "(?-s).",
    "(?-m)^",
    "(?U)a+",
    r"\C",
    "k",
    "s",
    "K",
    "S",
]
SUFFIXES = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,3}", "+?", "*?", "{2,}"]
atoms = st.builds(
    lambda atom, suffix: (
        atom + suffix if suffix and not atom.startswith(("(?", "^", "$")) else atom
    ),
    st.sampled_from(ATOMS),
    st.sampled_from(SUFFIXES),
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(SUFFIXES)).map(lambda pair: f"({pair[0]}){pair[1]}"),
        inner.map(lambda part: f"(?i:{part})"),
    ),
    max_leaves=8,
)
PIECES = [
    b"foo",
    b"Foo",
    b"FOO",
    b"foobar",
    b"Kelvin",
    b"\xe2\x84\xaaelvin",
    b"\xc5\xbfort",
    b"SSSS",
    b"s\xc5\xbfss",
    "日本語".encode(),
    "naïve".encode(),
    "NAÏVE".encode(),
    b"na\xefve",
    b"\xe9",
    "emoji😀".encode(),
    b"func",
    b"handler",
    b"NewHandler(",
    b"x",
    b"ab",
    b"abc",
    b"ABC",
    b"aBc",
    b"f.o",
    b" ",
    b"\t",
    b"1",
    b"22",
    b"(",
    b".",
    b"\xff",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r\n",
    b"\r\n",
    b"\r",
    b"\v",
    "Ωμέγα".encode(),
    b"\xf0\x9f\x98",
]
contents = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map(
        lambda pieces: b"\xff\xfe" + b"".join(pieces).decode("utf-8", "replace").encode("utf-16-le")
    ),
    st.lists(st.sampled_from(PIECES), max_size=8).map(lambda pieces: b"".join(pieces) + b"\0"),
)
NAMES = ["foo", "src/Foo.go", "src/foo_test.go", "naïve.py", "a b/Kelvin.txt", "x", "d/foo.h", "s"]
trees = st.dictionaries(st.sampled_from([name.encode() for name in NAMES]), contents, min_size=1)


@settings(max_examples=150, deadline=None)
@given(pattern=patterns, files=trees, case=st.sampled_from(["", "", " case:yes", " case:no"]))
def test_any_pattern_finds_in_the_index_what_the_scanner_finds(pattern, files, case):
    quoted = '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
    check_or_refuse(Pair(files), quoted + case, QueryMode.ZOEKT)


@settings(max_examples=100, deadline=None)
@given(pattern=patterns, old=trees, new=trees)
def test_a_pattern_as_the_whole_query_finds_the_same_in_each_version(pattern, old, new):
    check_or_refuse(Pair(old, new), pattern, QueryMode.REGEX)


@settings(max_examples=100, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3),
    files=trees,
)
def test_any_literal_finds_in_the_index_what_the_scanner_finds(pieces, files):
    text = b"".join(pieces).decode("utf-8", "replace").strip()
    if text:
        Pair(files).check(text, QueryMode.LITERAL)


words = st.builds(
    lambda field, word: f'{field}"{word}"',
    st.sampled_from(["", "", "", "content:", "file:", "-", "-file:", "-content:"]),
    st.sampled_from(
        ["foo", "Foo", "k", "handler", "a.c", "[^x]o", "naïve", "func.*New", "ab$", "^f"]
    ),
) | st.sampled_from(["lang:go", "-lang:go", "lang:python", "case:yes", "type:file", "branch:main"])
queries = st.recursive(
    words,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: f"( {' '.join(parts)} )"),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"( {' or '.join(parts)} )"),
        inner.map(lambda part: f"-( {part} )"),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(query=queries, old=trees, new=trees)
def test_any_query_finds_in_the_index_what_the_scanner_finds(query, old, new):
    check_or_refuse(Pair(old, new), query, QueryMode.ZOEKT)


def check_or_refuse(pair, text, mode):
    """Both answer alike, or both refuse alike."""
    refusals = [refusal_of(pair, provider, text, mode) for provider in (pair.scan, pair.index)]
    assert refusals[0] == refusals[1]
    if refusals[0] is None:
        pair.check(text, mode)


def refusal_of(pair, provider, text, mode):
    try:
        pair._ask(provider, text, -1, mode, 0, 0)
    except QueryError as error:
        return error.details
    return None


@settings(max_examples=100, deadline=None)
@given(query=queries, files=trees, cuts=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_pages_of_any_size_join_to_the_whole(query, files, cuts):
    pair = Pair(files)
    try:
        whole = pair.page(query)
    except QueryError:
        return
    joined = []
    while len(joined) < whole.total:
        page = pair.page(query, offset=len(joined), limit=cuts[len(joined) % len(cuts)])
        assert page.matches
        assert page.total <= whole.total
        joined += page.matches
    assert joined == list(whole.matches)


@settings(max_examples=100, deadline=None)
@given(files=trees, lines=st.integers(0, 3))
def test_neighbouring_lines_are_those_of_the_scanner(files, lines):
    Pair(files).check('"o|a"', context_lines=lines)


@pytest.mark.parametrize(
    "pattern", [r"\x00\x00\x00\s*b", r"a\x00\x00\s", r"ab\x00c\s+d", r"\x00+\n"]
)
def test_a_nul_has_no_keys_and_is_found(pattern):
    pair = Pair({b"late": b"x" * 9_000 + b"\n\0\0\0\n b ab\0c\nd a\0\0\n", b"other": b"ab c d\n"})
    assert pair.check(pattern, QueryMode.REGEX) >= 1


@pytest.fixture(scope="module")
def varied():
    """Two versions with files of every odd kind, many blocks and many files."""
    rng = random.Random(11)
    words = [f"word{number}" for number in range(400)] + ["NewHandler", "kelvin", "Foo", "GET"]

    def text(lines):
        return "".join(
            " ".join(rng.choice(words) for _ in range(rng.randint(0, 9))) + "\n"
            for _ in range(lines)
        ).encode()

    files = {b"src/file%03d.go" % number: text(rng.randint(1, 400)) for number in range(120)}
    files[b"src/huge.txt"] = text(30_000)
    files[b"crlf.txt"] = text(3_000).replace(b"\n", b"\r\n")
    files[b"latin.txt"] = text(2_000) + b"caf\xe9 NewHandler na\xefve\n"
    files[b"utf16.txt"] = b"\xff\xfe" + (text(500).decode() + "naïve 😀\n").encode("utf-16-le")
    files[b"late_nul.txt"] = text(1_000) + b"\0\0 NewHandler \0 after\n"
    files[b"no_end.txt"] = b"NewHandler"
    files[b"empty"] = b""
    files[b"only_feeds"] = b"\n" * 40_000
    files[b"kelvin.txt"] = text(900) + "\u212aelvin \u017fort\n".encode()
    files[b"long.js"] = b"var x=1;" * 9_000 + b"NewHandler" + b"y" * 40_000 + b"\nlast line\n"
    files[b"odd \xff name"] = b"NewHandler\n"
    newer = {**files, b"src/file000.go": b"changed NewHandler\n", b"src/new.go": text(200)}
    del newer[b"src/file001.go"]
    return Pair(files, newer)


@pytest.mark.parametrize(
    "query",
    [
        "NewHandler",
        "newhandler",
        "GET",
        "get",
        "kelvin",
        "KELVIN",
        "naïve",
        "caf.",
        "café",
        "word1 word2 -word3",
        '"word1 word2"',
        "word1.*word2",
        r"word\d\d\d$",
        "^word7",
        r'"\\s+word9"',
        r'"word1\\nword"',
        r"(?s)word1.{0,80}NewHandler",
        "word[12]0 or NewHandler",
        "file:huge word399",
        "-file:src NewHandler",
        "lang:go NewHandler",
        "lang:javascript yyy",
        "y{500}",
        r"\Aword",
        r'"feeds"',
        "^$",
        "x=1;NewHandler",
        "after",
        "[^a-z]{6}",
        "content:.",
        "file:.",
        "-content:word1",
        "😀",
        r"\r",
        'last file:"long.js$"',
        "k",
        "e or o",
    ],
)
def test_files_of_every_kind_are_searched_as_the_scanner_does(varied, query):
    varied.check(query)


@pytest.fixture(scope="module")
def tiny():
    """Blocks of a line or two, segments of a few, windows of two files: every edge is near."""
    sizes = {
        "segment_writer.BLOCK_BYTES": 20,
        "segment_writer._FULL_BLOCKS": 12,
        "segment_writer._FULL_POSTINGS": 150,
        "postings._CHUNK": 7,
        "postings._RUN": 9,
        "trigrams._PIECE": 11,
        "walking.WINDOW_FILES": 2,
        "finding.SCORED_LINES": 2,
        "finding._AT_ONCE": 3,
        "patterns.WINDOW": 40,
        "counting.WINDOW": 40,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, size in sizes.items():
            patch.setattr(f"vacmcpd.adapters.lexical.{name}", size)
        yield


long_contents = st.lists(st.sampled_from([*PIECES, *[b"\n"] * 10]), max_size=120).map(b"".join)
long_trees = st.dictionaries(
    st.sampled_from([name.encode() for name in [*NAMES, "f1.go", "f2.go", "f3.go", "vendor/f4"]]),
    long_contents,
    min_size=1,
)
histories = st.lists(long_trees, min_size=1, max_size=4)


@settings(max_examples=80, deadline=None)
@given(pattern=patterns, versions=histories)
def test_any_pattern_finds_the_same_over_the_ends_of_blocks(tiny, pattern, versions):
    check_or_refuse(Pair(*versions), pattern, QueryMode.REGEX)


@settings(max_examples=60, deadline=None)
@given(query=queries, versions=histories, size=st.integers(1, 5))
def test_any_query_pages_and_counts_the_same_over_the_ends_of_windows(tiny, query, versions, size):
    pair = Pair(*versions)
    check_or_refuse(pair, query, QueryMode.ZOEKT)
    try:
        whole = pair.page(query)
    except QueryError:
        return
    joined = []
    while len(joined) < whole.total:
        page = pair.page(query, offset=len(joined), limit=size)
        assert page.matches
        assert page.total == whole.total if page.total_is_exact else page.total <= whole.total
        joined += page.matches
    assert joined == list(whole.matches)
    assert pair.page(query, limit=0).total == whole.total
    assert pair.page(query, limit=1, exact_total=True).total == whole.total


@settings(max_examples=60, deadline=None)
@given(
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=4),
    versions=histories,
    lines=st.integers(0, 2),
)
def test_any_literal_finds_the_same_over_the_ends_of_blocks(tiny, pieces, versions, lines):
    text = b"".join(pieces).decode("utf-8", "replace")
    Pair(*versions).check(text, QueryMode.LITERAL, context_lines=lines)
