"""What users of other code searches complained of in public, each asked of the index.

The threads that each test answers, as far as they can be read in public:

- no limit of branches: google/zoekt#32, sourcebot-dev/sourcebot#146
- skipped files are hidden, results are missing: sourcegraph-public-snapshot#35106 (and #37215),
  google/codesearch#93
- large files, many trigrams, small caps: sourcegraph-public-snapshot#12443, google/zoekt#99,
  justrach/codedb#471
- files that are not UTF-8 differ between two engines: sourcegraph-public-snapshot#55371
- text that the file no longer has, an index that is gone: sourcebot-dev/sourcebot#901 and #1210
- revisions: sourcebot-dev/sourcebot#120, #767, #808 and #40, sourcegraph/zoekt#960,
  abhigyanpatwari/GitNexus#3291 (how refs are spelled: ``tests/git/test_store_contract.py``)
- repository names: sourcebot-dev/sourcebot#990
- how a query is read: DeusData/codebase-memory-mcp#283 and #282, justrach/codedb#292,
  johnhuang316/code-index-mcp#60
- output that fills the context, or is dropped or capped: johnhuang316/code-index-mcp#48,
  sourcebot-dev/sourcebot#604, aimasteracc/tree-sitter-analyzer#736
- languages and symbols: sourcegraph-public-snapshot#60341, google/zoekt#107
- slow and large: sourcegraph/zoekt#840, sourcegraph-public-snapshot#3792
"""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.adapters.lexical.embedded import EmbeddedBuilder, EmbeddedSearch
from vacmcpd.adapters.lexical.generations import SEGMENT, sorted_out
from vacmcpd.engine import Engine, SearchCodeRequest
from vacmcpd.errors import QueryError, WireCode
from vacmcpd.model import Context, Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.search import SearchQuery
from vacmcpd.testing.artifacts import MemoryArtifacts
from vacmcpd.testing.contexts import MemoryContexts
from vacmcpd.testing.objects import MemoryObjects, Submodule, Symlink

LIMIT = 32 * 1024 * 1024


class World:
    """Contexts in memory, each member indexed, and an engine that searches them."""

    def __init__(self, max_file_bytes=LIMIT):
        self.objects, self.artifacts = MemoryObjects(), MemoryArtifacts()
        self.stores, self.contexts = {}, []
        self.max_file_bytes = max_file_bytes
        self.search = EmbeddedSearch(
            self.objects, self.artifacts, lambda name: self.stores[name].files
        )

    def add(self, context, files, branch="main", repository="demo"):
        """A context of one member."""
        self.contexts.append(Context(context, (self.member(context, files, branch, repository),)))

    def member(self, context, files, branch="main", repository="demo"):
        raw = {path.encode(): _raw(content) for path, content in files.items()}
        revision = self.objects.commit(repository, raw)
        state = self.stores.get(repository, StoreState())
        builder = EmbeddedBuilder(self.objects, self.artifacts, max_file_bytes=self.max_file_bytes)
        built = builder.build(
            BuildTarget(context, repository, branch, revision), state, lambda *step: None, None
        )
        self.stores[repository] = StoreState(built.files, state.live | {built.artifact.key})
        kept = {file.digest for file in built.files}
        self.artifacts.sweep(repository, kept)
        return Member(repository, branch, revision, built.artifact)

    def ask(self, context, query, search=None, **how):
        """The answer as a client gets it."""
        engine = Engine(MemoryContexts(self.contexts), search or self.search)
        return engine.search_code(SearchCodeRequest(context, query, **how)).to_wire()

    def refusal(self, context, query, **how):
        with pytest.raises(QueryError) as caught:
            self.ask(context, query, **how)
        return caught.value

    def places(self, context, query, **how):
        return [
            f"{row['path']}:{row.get('line', 0)}"
            for row in self.ask(context, query, **how)["matches"]
        ]


def _raw(content):
    return content.encode() if isinstance(content, str) else content


@pytest.fixture
def world():
    return World()


def skipped(answer):
    return answer["coverage"]["members"][0]["skipped"]


def noise(seed, size):
    """Text of so many different three-byte strings that engines with a cap leave it out."""
    rng = random.Random(seed)
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/-_ \n"
    return bytes(rng.choices(letters, k=size))


# Versions


@pytest.mark.parametrize("count", [100, pytest.param(200, marks=pytest.mark.slow)])
def test_so_many_versions_of_one_repository_are_each_searched_alone(world, count):
    for number in range(count):
        world.add(f"v{number}", {"a.txt": f"common\nonly{number}end\n", "b.txt": "fixed\n"})
    for number in range(count):
        assert world.places(f"v{number}", f"only{number}end") == ["a.txt:2"]
        assert world.places(f"v{number}", f"only{(number + 1) % count}end") == []
        assert world.ask(f"v{number}", "only")["total_matches"] == 1
    assert len(sorted_out(world.stores["demo"].files).segments) <= 7


def test_branches_whose_names_begin_alike_never_answer_for_each_other(world):
    world.add("five", {"five.txt": "text\n"}, branch="rel5")
    world.add("five-b", {"five_b.txt": "text\nsecret\n"}, branch="rel5b")
    assert world.places("five", "text") == ["five.txt:1"]
    assert world.places("five", "secret") == []
    assert world.places("five", "secret branch:rel5b") == []
    assert world.places("five", "text branch:rel5") == ["five.txt:1"]
    # As in Zoekt, a part of a name narrows; it can't reach another context.
    assert world.places("five-b", "text branch:rel5") == ["five_b.txt:1"]


def test_a_branch_and_a_context_of_one_letter_are_found(world):
    world.add("c", {"c": "c\n"}, branch="c")
    world.add("cc", {"cc": "cc\n"}, branch="cc")
    assert world.places("c", "c") == ["c:1"]
    assert world.places("c", "c branch:c") == ["c:1"]
    assert world.places("cc", "^cc$ type:file") == ["cc:0"]


def test_no_revision_has_to_be_typed_and_each_answer_says_which_one_it_is_of(world):
    world.add("old", {"a": "one\n"}, branch="refs/heads/main")
    world.add("new", {"a": "two\n"}, branch="v1.0.0-rc.1")
    for context, word in (("old", "one"), ("new", "two")):
        answer = world.ask(context, word)
        member = next(each for each in world.contexts if each.id == context).members[0]
        said = answer["context"]
        assert (said["branch"], said["revision"]) == (member.branch, member.revision)
        assert answer["coverage"]["members"][0]["revision"] == member.revision
        assert len(answer["matches"]) == 1


def test_lines_are_those_of_the_pinned_tree_after_a_newer_version_was_indexed(world):
    world.add("old", {"a.py": "x = 1\ndef gone():\n", "same": "gone\n"})
    before = world.ask("old", "gone")
    assert len(before["matches"]) == 2
    for number in range(9):
        text = "\n" * number + "def stays():\n"
        world.add(f"new{number}", {"a.py": text, "same": "gone\n"})
        assert world.ask("old", "gone") == before
        assert world.places(f"new{number}", "gone") == ["same:1"]
        assert world.places(f"new{number}", "stays") == [f"a.py:{number + 1}"]


# What is left out, and what is not


@pytest.mark.parametrize("query", ["needle", "nowhere", "file:nothing", "-needle", "type:file a"])
def test_every_answer_says_what_was_not_searched_and_why(query):
    world = World(max_file_bytes=1_000)
    files = {
        "a": "needle\n",
        "bin": b"\0needle",
        "large": "needle\n" * 1_000,
        "pointer": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n",
        "module": Submodule("a" * 40),
        "link": Symlink(b"a"),
    }
    world.add("ctx", files)
    answer = world.ask("ctx", query)
    member = answer["coverage"]["members"][0]
    reasons = {"binary": 1, "too_large": 1, "lfs_pointer": 1, "submodule": 1, "symlink": 1}
    assert member["skipped"] == dict(sorted(reasons.items()))
    assert member["files"] == member["searched"] + sum(reasons.values()) == 6
    assert answer["coverage"]["complete"]


def test_what_is_skipped_is_found_by_its_name(world):
    world.add("ctx", {"logo.png": b"\0", "vendor/lib": Submodule("a" * 40), "a": "text\n"})
    assert world.places("ctx", "file:logo") == ["logo.png:0"]
    assert world.places("ctx", "type:file lib") == ["vendor/lib:0"]


def test_no_file_is_too_long_or_too_varied(world):
    varied = noise(1, 300_000)
    assert len({varied[at : at + 3] for at in range(len(varied) - 2)}) > 100_000
    files = {
        "varied": varied + b"\nvaried_needle\n",
        "long": b"filler line\n" * 300_000 + b"long_needle\n",
        "page": b"<p>x</p>\n" * 8_000 + b"page_needle\n",
        "minified": b"var x=1;" * 400_000 + b"minified_needle;" + b"y()" * 100_000,
    }
    world.add("ctx", files)
    for name in files:
        answer = world.ask("ctx", f"{name}_needle")
        assert [row["path"] for row in answer["matches"]] == [name]
        assert skipped(answer) == {}


def test_a_higher_limit_finds_what_was_too_large_from_then_on_and_reads_it_once():
    """Whatever the merges before: the row that says "too large" must not win again."""
    world = World(max_file_bytes=1_000)
    large = "needle in a large file\n" * 100

    def small(count):
        return {f"f{count}-{number}": f"file {count} {number}\n" for number in range(count)}

    world.add("v0", small(1))
    world.add("v1", {"large": large, **small(200)})
    assert world.places("v1", "needle") == []
    for count in (5, 6):
        world.add(f"v{count}", small(count))
    world.max_file_bytes = LIMIT
    for number in range(8):
        world.objects.reads.clear()
        world.add(f"next{number}", {"large": large, "number": f"{number}\n"})
        assert len(world.objects.reads) == (2 if number == 0 else 1)
        for context in ("v1", *(f"next{at}" for at in range(number + 1))):
            answer = world.ask(context, "needle", limit=1)
            assert answer["matches"][0]["path"] == "large", (number, context)
            assert skipped(answer) == {}


@pytest.mark.parametrize("query", ["caf.", "café", "naïve", "na.ve", "\\xe9", "[^a-z]$", "é"])
def test_files_that_are_not_utf_8_are_the_same_for_both_engines(world, query):
    files = {
        "latin": b"caf\xe9 na\xefve\nplain\ncaf\xe9\n",
        "utf8": "café naïve\n",
        "mixed": b"caf\xe9 caf\xc3\xa9 \xff\n",
        "utf16": b"\xff\xfe" + "café\n".encode("utf-16-le"),
        "marked": b"\xef\xbb\xbfcaf\xe9\n",
        "cut": b"caf\xc3",
    }
    world.add("ctx", files)
    scan = ScanSearch(world.objects, max_file_bytes=LIMIT)
    indexed, scanned = world.ask("ctx", query), world.ask("ctx", query, search=scan)
    for answer in (indexed, scanned):
        answer["matches"].sort(key=lambda row: (row["path"], row.get("line", 0)))
        answer["evidence"].sort(key=lambda row: sorted(row["location"].items()))
    assert indexed["matches"] == scanned["matches"] != []
    assert indexed["total_matches"] == scanned["total_matches"]


# An index that is gone


@pytest.mark.parametrize("query", ["needle", "nowhere", "file:a", "-needle"])
def test_a_segment_that_is_gone_is_an_error_and_no_empty_answer(world, query):
    world.add("ctx", {"a": "needle\n"})
    for file in world.stores["demo"].files:
        if file.role.startswith(SEGMENT):
            world.artifacts.lose("demo", file)
    error = world.refusal("ctx", query)
    assert error.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
    assert "rebuild" in error.message


def test_a_store_without_a_file_is_an_error(world):
    world.add("ctx", {"a": "needle\n"})
    world.stores["demo"] = StoreState()
    assert world.refusal("ctx", "needle").code is WireCode.SEARCH_PROVIDER_UNAVAILABLE


def test_one_member_without_its_index_fails_the_whole_call(world):
    members = [world.member("ctx", {"a": "needle\n"}, repository=name) for name in ("one", "two")]
    world.contexts.append(Context("ctx", tuple(members)))
    assert world.ask("ctx", "needle")["total_matches"] == 2
    world.search = EmbeddedSearch(
        world.objects, world.artifacts, lambda name: world.stores[name].files
    )
    world.artifacts.lose("two", world.stores["two"].files[0])
    error = world.refusal("ctx", "needle")
    assert error.code is WireCode.SEARCH_PROVIDER_UNAVAILABLE
    assert error.details["repository"] == "two"


# Repositories


def test_a_repository_is_its_exact_name_with_dots_and_dashes(world):
    names = ["acme.web-app", "acmexweb-app", "acme.web", "-web.app+", "a.b.c"]
    members = [world.member("ctx", {"a": f"needle {name}\n"}, repository=name) for name in names]
    world.contexts.append(Context("ctx", tuple(members)))
    for name in names:
        rows = world.ask("ctx", "needle", repository=name)["matches"]
        assert [row["snippet"] for row in rows] == [f"needle {name}"]
    assert world.ask("ctx", "needle")["total_matches"] == len(names)
    narrowed = world.ask("ctx", "needle repo:^acme.web-app$")["matches"]
    assert [row["repository"] for row in narrowed] == names[:2]
    escaped = world.ask("ctx", r"needle repo:^acme\.web-app$")["matches"]
    assert [row["repository"] for row in escaped] == names[:1]
    error = world.refusal("ctx", "needle", repository="acme.*")
    assert (error.code, error.details["repositories"]) == (WireCode.INVALID_ARGUMENT, names)


# How a query is read


@pytest.mark.parametrize(
    ("query", "mode", "position"),
    [
        ("foo [a-z", "", 4),
        ("foo(?=bar)", "", 3),
        ('"never closed', "", 0),
        ("a{2,1}", "regex", 1),
        ("x a**", "regex", 3),
        ("lang:", "", 0),
    ],
)
def test_a_query_that_can_not_be_read_is_an_error_with_its_place(world, query, mode, position):
    world.add("ctx", {"a": "foo\n"})
    error = world.refusal("ctx", query, mode=mode)
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details["position"] == position
    assert f"(at character {position})" in error.message


ALTERNATIVES = {"alpha": "a\n", "beta": "b\n", "both": "the text a|b|c as it stands\n"}


def test_alternatives_are_a_regular_expression_unless_the_mode_says_otherwise(world):
    world.add("ctx", ALTERNATIVES)
    for mode in ("", "zoekt", "regex"):
        assert set(world.places("ctx", "^(a|b|c)$", mode=mode)) == {"alpha:1", "beta:1"}
        found = world.places("ctx", "a|b|c", mode=mode)
        assert {"alpha:1", "beta:1", "both:1"} == set(found)
    assert world.places("ctx", "a|b|c", mode="literal") == ["both:1"]


def test_a_literal_without_a_match_that_looks_like_a_pattern_says_how_it_was_read(world):
    world.add("ctx", {"a": "alpha\nbeta\n"})
    answer = world.ask("ctx", "alpha|beta", mode="literal")
    assert (answer["total_matches"], answer["matches"]) == (0, [])
    assert "mode regex" in answer["hint"]
    assert world.ask("ctx", "alpha|beta", mode="regex")["total_matches"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "items[0].get(*args, **kwargs)",
        'print("a b")',
        "C:\\path\\file",
        "a|b",
        "^start$",
        "x += y ? 1 : {2}",
        "file:name lang:go -not or (this)",
        "\\Q[a-z]\\E",
        "  indented",
    ],
)
def test_an_agent_need_not_escape_a_literal(world, text):
    world.add("ctx", {"with": f"line\nx{text}y\n", "without": "items0.get\npath file ab start\n"})
    assert world.places("ctx", text, mode="literal") == ["with:2"]


@settings(max_examples=300, deadline=None)
@given(
    query=st.text(st.sampled_from("a|b(c)[]{}*+?\\^$.-:\"' \n\tfile lang or case 1,é\u212a\0")),
    mode=st.sampled_from(["", "literal", "regex"]),
)
def test_whatever_is_asked_is_answered_or_refused_as_an_argument(asked, query, mode):
    try:
        complete, code = asked.ask("ctx", query, mode=mode)["coverage"]["complete"], None
    except QueryError as error:
        complete, code = True, error.code
    assert complete
    assert code in (None, WireCode.INVALID_ARGUMENT)


@pytest.fixture(scope="module")
def asked():
    made = World()
    made.add("ctx", {**ALTERNATIVES, "file.go": "package a // or: case\n"})
    return made


# How much is answered


def test_totals_are_exact_or_at_least_and_never_the_limit(world):
    files = {f"f{number}": "match\n" * 10 for number in range(100)}
    world.add("ctx", files)
    answer = world.ask("ctx", "match", limit=15)
    assert len(answer["matches"]) == 15
    assert answer["truncated"]
    assert answer["total_matches"] > 15
    assert answer["total_is_exact"] or answer["total_matches"] <= 1_000
    counted = world.ask("ctx", "match", limit=15, exact_total=True)
    assert (counted["total_matches"], counted["total_is_exact"]) == (1_000, True)
    assert counted["matches"] == answer["matches"]


@pytest.mark.parametrize(("limit", "max_tokens"), [(7, 0), (0, 400), (50, 2_000), (1, 256)])
def test_pages_below_a_token_budget_join_to_all_matches(world, limit, max_tokens):
    files = {
        f"d{number % 3}/file{number}.go": f"func needle{number}() {{}}\n// needle\n" * (number % 5)
        for number in range(30)
    }
    world.add("ctx", files)
    whole = world.ask("ctx", "needle", limit=1_000, max_tokens=25_000)
    assert not whole["truncated"]
    rows, cursor = [], ""
    while True:
        page = world.ask("ctx", "needle", limit=limit, max_tokens=max_tokens, cursor=cursor)
        assert page["matches"]
        assert page["total_matches"] <= whole["total_matches"]
        rows += page["matches"]
        cursor = page.get("next_cursor", "")
        if not cursor:
            break
        assert page["truncated"]
    assert rows == whole["matches"]
    assert (page["truncated"], page["total_matches"]) == (False, len(rows))


def test_a_first_match_beyond_the_token_budget_is_cut_and_not_dropped(world):
    files = {"a.js": "x" * 500_000 + "needle" + "y" * 500_000, "b.js": "short needle\n"}
    world.add("ctx", files)
    answer = world.ask("ctx", "needle", max_tokens=256)
    assert len(answer["matches"]) == 1
    second = world.ask("ctx", "needle", max_tokens=256, cursor=answer["next_cursor"])
    rows = answer["matches"] + second["matches"]
    assert sorted(row["path"] for row in rows) == ["a.js", "b.js"]
    assert [row.get("snippet_truncated", False) for row in rows].count(True) == 1
    assert answer["total_matches"] == 2


def test_lines_around_a_match_give_way_before_the_match_does(world):
    world.add("ctx", {"a": ("z" * 900 + "\n") * 9 + "needle\n" + ("z" * 900 + "\n") * 9})
    row = world.ask("ctx", "needle", max_tokens=256, context_lines=8)["matches"][0]
    assert (row["line"], row["snippet"], row["context_truncated"]) == (10, "needle", True)


# Languages and symbols


def test_a_language_is_told_by_the_content_where_extensions_are_shared(world):
    files = {
        "objc.h": "@interface Needle\n@end\n",
        "cpp.h": "namespace needle {}\n",
        "c.h": "int needle(void);\n",
        "objc.m": "#import <a.h>\nneedle\n",
        "matlab.m": "function needle\nend\n",
        "script": "#!/usr/bin/env python3\nneedle\n",
        "a.pl": "use strict;\nneedle\n",
    }
    world.add("ctx", files)
    wanted = {
        "objc": {"objc.h", "objc.m"},
        "c++": {"cpp.h"},
        "c": {"c.h"},
        "matlab": {"matlab.m"},
        "python": {"script"},
        "perl": {"a.pl"},
    }
    for language, paths in wanted.items():
        rows = world.ask("ctx", f"lang:{language} needle")["matches"]
        assert {row["path"] for row in rows} == paths, language


def test_one_content_under_two_extensions_has_the_language_of_each(world):
    same = "needle\n@interface X\n@end\n"
    world.add("ctx", {"a.h": same, "b.m": same, "c.txt": same, "d": same})
    assert {row["path"] for row in world.ask("ctx", "lang:objc needle")["matches"]} == {
        "a.h",
        "b.m",
    }


def test_an_unknown_language_is_an_error_that_offers_near_names(world):
    world.add("ctx", {"a.py": "needle\n"})
    error = world.refusal("ctx", "needle lang:pythn")
    assert error.code is WireCode.INVALID_ARGUMENT
    assert error.details["position"] == 7
    assert re.search("did you mean .*python", error.message, re.IGNORECASE)


def test_symbols_are_refused_with_a_reason_while_there_are_none(world):
    world.add("ctx", {"a.py": "def needle():\n    pass\n\nneedle()\n"})
    error = world.refusal("ctx", "sym:needle")
    assert error.code is WireCode.INVALID_ARGUMENT
    assert "call graph" in error.message
    assert world.places("ctx", "needle")[0] == "a.py:1"


# Size


def test_memory_is_bounded_by_the_caches_and_not_by_the_repository(world):
    search = EmbeddedSearch(
        world.objects,
        world.artifacts,
        lambda name: world.stores[name].files,
        cache_bytes=100_000,
    )
    world.add("ctx", {f"f{number}": noise(number, 9_000) for number in range(60)})
    for query in ("needle", "[a-z]{5}", "file:f1 x", "-abc"):
        world.ask("ctx", query, search=search)
        assert search._texts._used <= 100_000


def test_the_trees_of_an_older_generation_are_let_go(world):
    """Each keeps files open that were deleted, and so their room on the disk."""
    for number in range(12):
        world.add(f"v{number}", {"a": f"needle {number}\n", f"b{number}": "x\n"})
        for context in range(number + 1):
            assert world.ask(f"v{context}", "needle")["total_matches"] == 1
        stores = world.search._stores
        assert len(stores._views) <= number + 1
        assert stores._rows == sum(map(len, stores._views.values()))
    segments = {key[-1] for key in stores._views}
    assert segments == {sorted_out(world.stores["demo"].files).segments}


def test_the_trees_that_are_kept_are_bounded_by_their_rows(world, monkeypatch):
    monkeypatch.setattr("vacmcpd.adapters.lexical.embedded._MOST_ROWS", 100)
    for number in range(20):
        world.add(f"v{number}", {f"f{at}": f"needle {number}\n" for at in range(15)})
    for _ in range(2):
        for number in range(20):
            assert world.ask(f"v{number}", f'"needle {number}"')["total_matches"] == 15
            assert world.search._stores._rows <= 100


def test_a_version_costs_its_changes_in_files_that_are_opened_and_read(world):
    files = {f"f{number}": f"needle {number}\n" for number in range(300)}
    world.add("v0", files)
    for number in range(1, 6):
        world.objects.reads.clear()
        world.add(f"v{number}", {**files, "changed": f"{number}\n"})
        assert len(world.objects.reads) == 1
    opened = len(world.artifacts.opens)
    for number in range(6):
        world.ask(f"v{number}", "needle")
    # A manifest for each version, and each segment once.
    segments = sorted_out(world.stores["demo"].files).segments
    assert len(world.artifacts.opens) - opened <= 6 + len(segments) + 1


def test_the_scope_that_a_search_is_given_is_the_only_tree_it_reads(world):
    world.add("a", {"a": "needle\n"})
    world.add("b", {"b": "needle\n"})
    wrong = Scope("a", Member("demo", "main", "f" * 40))
    with pytest.raises(QueryError) as caught:
        world.search.search(wrong, SearchQuery("needle", 0, 9), Budget("search", "x", 9.0))
    assert caught.value.code is WireCode.SOURCE_MISMATCH
