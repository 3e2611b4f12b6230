"""What the scanner finds, in which files, and what it says about the rest."""

import threading

import pytest

from vacmcpd.adapters.lexical import ScanSearch
from vacmcpd.errors import Cancelled, QueryError, WireCode
from vacmcpd.model import Artifact, ArtifactKind, Member, Scope
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.search import QueryMode, SearchMatch, SearchQuery
from vacmcpd.testing.objects import Submodule, Symlink

LFS = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def test_words_are_joined_per_file_and_each_line_with_any_of_them_is_reported(lab):
    place = lab({"a": "one\ntwo\nnone\n", "b": "one\n", "c": "two\n"})
    assert place.hits("one two") == [("a", 1), ("a", 2), ("a", 3)]
    assert place.hits("one or two") == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1)]


def test_a_line_is_reported_once_however_often_it_matches(lab):
    place = lab({"a": "x x x y\ny x\n"})
    assert place.hits("x") == [("a", 1), ("a", 2)]
    assert place.hits("x y") == [("a", 1), ("a", 2)]


def test_matches_come_by_path_in_byte_order_and_then_by_line(lab):
    place = lab({"b": "x\n", "a/c": "x\nx\n", "a.c": "x\n", "é": "x\n", "Z": "x\n"})
    assert place.hits("content:x") == [
        ("Z", 1),
        ("a.c", 1),
        ("a/c", 1),
        ("a/c", 2),
        ("b", 1),
        ("é", 1),
    ]


def test_a_file_that_matches_by_name_only_is_one_match_of_its_name(lab):
    place = lab({"needle.txt": "hay\n", "other.txt": "a needle\n", "needle": "needle\n"})
    assert place.hits("needle") == [("needle", 1), ("needle.txt", 0), ("other.txt", 1)]
    assert place.search("needle").matches[1] == SearchMatch("needle.txt", 0, "needle.txt", True)
    assert place.hits("content:needle") == [("needle", 1), ("other.txt", 1)]


def test_a_word_may_be_in_the_name_and_another_in_the_content(lab):
    place = lab({"handler.go": "package x\nfunc a()\n", "b.go": "func a()\n"})
    assert place.hits("handler func") == [("handler.go", 2)]


def test_a_file_filter_is_a_regular_expression_over_the_whole_path(lab):
    place = lab({"src/a.go": "x\n", "src/b.py": "x\n", "lib/A.go": "x\n"})
    assert place.hits(r"file:^src/ x") == [("src/a.go", 1), ("src/b.py", 1)]
    assert place.hits(r"file:a\.go$ x") == [("lib/A.go", 1), ("src/a.go", 1)]
    assert place.hits(r"file:A\.go$ x") == [("lib/A.go", 1)]
    assert place.hits(r"-file:\.go$ x") == [("src/b.py", 1)]
    assert place.hits("file:src") == [("src/a.go", 0), ("src/b.py", 0)]
    assert place.hits("file:nowhere x") == []


def test_a_negation_excludes_files_by_content_or_name(lab):
    place = lab({"a": "x\nbad\n", "b": "x\n", "bad": "x\n"})
    assert place.hits("x -bad") == [("b", 1)]
    assert place.hits("x -content:bad") == [("b", 1), ("bad", 1)]
    assert place.hits("x -(content:bad or file:^b$)") == [("bad", 1)]
    assert place.hits("x --bad") == [("a", 1), ("bad", 1)]


def test_a_query_of_negations_alone_lists_the_files_that_remain(lab):
    place = lab({"a": "x\n", "b": "y\n", "empty": ""})
    assert place.hits("-content:x") == [("b", 0), ("empty", 0)]
    assert place.hits("-file:a -file:b") == [("empty", 0)]


def test_only_lines_of_an_alternative_that_holds_are_reported(lab):
    place = lab({"f": "one\ntwo\n", "g": "one\nthree\n"})
    assert place.hits("(one three) or two") == [("f", 2), ("g", 1), ("g", 2)]


def test_type_file_reports_names_alone(lab):
    place = lab({"a": "x\nx\n", "b": "y\n"})
    assert place.hits("type:file x") == [("a", 0)]
    assert place.hits("type:file x or y") == [("a", 0), ("b", 0)]
    assert place.hits("(type:file x) or content:y") == [("a", 0), ("b", 1)]


def test_case_is_ignored_unless_the_pattern_has_a_capital(lab):
    place = lab({"f": "Foo\nfoo\nFOO\n"})
    assert place.hits("foo") == [("f", 1), ("f", 2), ("f", 3)]
    assert place.hits("Foo") == [("f", 1)]
    assert place.hits("foo case:yes") == [("f", 2)]
    assert place.hits("FOO case:no") == [("f", 1), ("f", 2), ("f", 3)]
    assert place.hits("Foo file:F") == []


def test_letters_fold_as_unicode_says(lab):
    place = lab({"plain": "Kelvin\nstrange\n"})
    assert place.hits("kelvin") == [("plain", 1)]
    assert place.hits("STRANGE case:no") == [("plain", 2)]
    place = lab({"f": "\N{KELVIN SIGN}elvin\n\N{LATIN SMALL LETTER LONG S}trange\nÉTÉ\n"})
    assert place.hits("kelvin") == [("f", 1)]
    assert place.hits("(?i)KELVIN") == [("f", 1)]
    assert place.hits("strange") == [("f", 2)]
    assert place.hits("été") == [("f", 3)]
    assert place.hits("Kelvin") == []


def test_anchors_stand_at_the_ends_of_lines_also_before_a_carriage_return(lab):
    place = lab({"crlf": "one\r\ntwo\r\nthree", "lf": "one\ntwo\n"})
    assert place.hits("^one$") == [("crlf", 1), ("lf", 1)]
    assert place.hits("^two$") == [("crlf", 2), ("lf", 2)]
    assert place.hits("e$") == [("crlf", 1), ("crlf", 3), ("lf", 1)]
    assert place.snippets("content:one") == ["one", "one"]


def test_a_pattern_that_names_a_carriage_return_sees_it(lab):
    place = lab({"crlf": "one\r\ntwo\n", "lf": "one\n"})
    assert place.hits(r"content:one\r") == [("crlf", 1)]
    assert place.hits(r"content:\x0d$") == [("crlf", 1)]
    assert place.hits(r"content:one\r\ntwo") == [("crlf", 1)]
    assert place.hits(r"content:one\r two$") == [("crlf", 1), ("crlf", 2)]


def test_a_lone_carriage_return_ends_no_line(lab):
    place = lab({"f": "a\rb\nc\n"})
    assert place.hits("content:b") == [("f", 1)]
    assert place.snippets("content:b") == ["a\rb"]


def test_a_match_over_several_lines_is_reported_at_its_first_visible_line(lab):
    place = lab({"f": "one\ntwo\n\n\n  three\nend\n", "w": "one\r\ntwo\r\n"})
    assert place.hits(r"content:one\ntwo") == [("f", 1), ("w", 1)]
    assert place.hits('content:"one\ntwo"') == [("f", 1), ("w", 1)]
    assert place.hits(r"content:\s+three") == [("f", 5)]
    assert place.hits(r"content:(?s)two.*end") == [("f", 2)]
    assert place.hits(r"content:\send") == [("f", 6)]


def test_a_match_that_starts_at_a_line_end_is_found_after_one_on_the_line_before(lab):
    assert lab({"f": " foo\nfoo\nfoo\n"}).hits(r"content:\sfoo") == [
        ("f", 1),
        ("f", 2),
        ("f", 3),
    ]


def test_an_empty_match_counts_on_every_line_and_on_none_behind_the_last(lab):
    place = lab({"f": "a\n\nb\n", "g": "a", "none": ""})
    assert place.hits("content:x*") == [("f", 1), ("f", 2), ("f", 3), ("g", 1)]
    assert place.hits("content:^$") == [("f", 2)]
    assert place.hits("-content:x*") == [("none", 0)]


def test_a_language_filters_by_name_extension_and_content(lab):
    place = lab({"a.go": "x\n", "b.py": "x\n", "run": "#!/usr/bin/env python3\nx\n", "c.h": "x\n"})
    assert place.hits("lang:go x") == [("a.go", 1)]
    assert place.hits("lang:py content:x") == [("b.py", 1), ("run", 2)]
    assert place.hits("-lang:python -lang:go content:x") == [("c.h", 1)]


def test_repository_and_branch_can_only_narrow(lab):
    place = lab({"f": "x\n"}, branch="release/v1")
    for narrowing in ("repo:demo", "r:^d.*o$", "branch:release", "b:v1", "branch:HEAD"):
        assert place.hits(f"{narrowing} x") == [("f", 1)]
    for narrowing in ("repo:other", "repo:DEMO", "branch:v2", "branch:release/v1-hotfix"):
        page = place.search(f"{narrowing} x")
        assert (page.matches, page.total, page.total_is_exact) == ((), 0, True)
        assert page.coverage.complete
    assert place.hits("-repo:other x") == [("f", 1)]


def test_latin_1_is_found_by_its_letters_and_shown_as_other_answers_show_it(lab):
    place = lab({"latin1.txt": b"caf\xe9 latin1\nsecond\n", "utf8": "café\n"})
    assert place.hits("content:latin1") == [("latin1.txt", 1)]
    assert place.hits("content:café") == [("latin1.txt", 1), ("utf8", 1)]
    assert place.hits("content:CAFÉ case:no") == [("latin1.txt", 1), ("utf8", 1)]
    assert place.hits("content:^caf.$") == [("utf8", 1)]
    assert place.snippets("content:latin1") == ["caf\N{REPLACEMENT CHARACTER} latin1"]
    assert place.snippets("content:second") == ["second"]


def test_one_bad_byte_does_not_hide_the_utf_8_around_it(lab):
    place = lab({"mixed": "naïve\n".encode() + b"caf\xe9\n" + "日本\n".encode()})
    assert place.hits("content:naïve") == [("mixed", 1)]
    assert place.hits("content:日本") == [("mixed", 3)]
    assert place.snippets("content:日本") == ["日本"]
    assert place.snippets("content:café") == ["caf\N{REPLACEMENT CHARACTER}"]


def test_lines_of_a_long_file_that_is_not_utf_8_are_shown_right(lab):
    lines = [b"line %d \xe9" % number for number in range(1, 30_001)]
    place = lab({"f": b"\n".join(lines) + b"\n" + b"x" * 200_000 + b"\nend\n"})
    page = place.search(r"content:\sline or end or 9999", limit=40_000)
    shown = {match.line: match.snippet for match in page.matches}
    assert shown[29_999] == "line 29999 \N{REPLACEMENT CHARACTER}"
    assert shown[30_002] == "end"


def test_utf_16_with_a_mark_is_read_and_without_one_is_binary(lab):
    text = "alpha\r\nbêta\r\n"
    place = lab(
        {
            "be": b"\xfe\xff" + text.encode("utf-16-be"),
            "le": b"\xff\xfe" + text.encode("utf-16-le"),
            "odd": b"\xff\xfe" + text.encode("utf-16-le") + b"x",
            "nomark": text.encode("utf-16-le"),
            "utf32": text.encode("utf-32"),
        }
    )
    assert place.hits("content:^bêta$") == [("be", 2), ("le", 2), ("odd", 2)]
    assert place.snippets("content:alpha") == ["alpha"] * 3
    assert place.skipped("alpha") == {"binary": 2}


def test_a_byte_order_mark_does_not_hide_the_start_of_the_first_line(lab):
    place = lab({"f": b"\xef\xbb\xbfpackage x\n"})
    assert place.hits("^package") == [("f", 1)]
    assert place.snippets("^package") == ["package x"]


def test_every_leaf_is_counted_as_searched_or_under_its_reason(lab):
    place = lab(
        {
            "bin": b"x\0y",
            "late": b"x" * 8192 + b"\0",
            "big": b"x" * 20_001,
            "fits": b"x" * 20_000,
            "media.bin": LFS,
            "almost.lfs": LFS + b"x" * 2000,
            "link": Symlink(b"target-text"),
            "module": Submodule("a" * 40),
            "empty": b"",
        },
        max_file_bytes=20_000,
    )
    coverage = place.search("x").coverage
    assert coverage.files == 9
    assert coverage.searched == 4
    assert list(coverage.skipped.items()) == [
        ("binary", 1),
        ("lfs_pointer", 1),
        ("submodule", 1),
        ("symlink", 1),
        ("too_large", 1),
    ]
    assert coverage.complete
    assert (coverage.repository, coverage.revision) == ("demo", place.revision)
    assert place.paths("content:x") == ["almost.lfs", "fits", "late"]


def test_what_is_not_searched_is_still_found_by_its_name(lab):
    place = lab(
        {"a.link": Symlink(b"secret"), "a.module": Submodule("a" * 40), "a.bin": b"\0secret"}
    )
    assert place.hits("file:^a") == [("a.bin", 0), ("a.link", 0), ("a.module", 0)]
    assert place.hits("link") == [("a.link", 0)]
    assert place.hits("secret") == []
    assert place.hits("lang:go") == []


def test_a_blob_over_the_limit_is_not_read(lab):
    place = lab({"big": b"x" * 2000, "small": b"x"}, max_file_bytes=1000)
    place.search("content:x")
    assert len(place.objects.reads) == 1


def test_a_file_that_its_path_excludes_is_not_read_and_counts_as_searched(lab):
    place = lab({"a.go": "x\n", "b.bin": b"\0"})
    page = place.search("file:go content:x")
    assert len(place.objects.reads) == 1
    assert (page.coverage.files, page.coverage.searched) == (2, 2)


def test_an_answer_does_not_depend_on_what_is_cached(lab):
    files = {"a.go": "x\n", "b.bin": b"\0x", "c": b"x\xe9\r\n", "d": "y\n"}
    warm = lab(files)
    first = [warm.search(text) for text in ("x", "file:b", "x")]
    cold = [lab(files, cache_bytes=0).search(text) for text in ("x", "file:b", "x")]
    assert first == cold
    assert first[0] == first[2]


def test_a_repeated_search_reads_nothing_again(lab):
    place = lab({"a": "x\n", "b": b"\0", "c": "y\n"})
    place.search("x")
    reads = len(place.objects.reads)
    place.search("y")
    assert len(place.objects.reads) == reads == 3


def test_a_tree_larger_than_the_cache_still_gains_from_it(lab):
    place = lab({f"f{number}": "x" * 1000 + str(number) for number in range(10)}, cache_bytes=7000)
    for _ in range(3):
        assert place.search("content:x").total == 10
    again = len(place.objects.reads) - 10
    assert 0 < again < 20
    assert place.scanner._blobs.used <= 7000


def test_a_window_is_cut_from_one_stable_order(lab):
    place = lab({f"f{number}": "x\nx\n" for number in range(5)})
    whole = place.search("content:x")
    assert whole.total == 10
    parts = [place.search("content:x", offset, 3) for offset in (0, 3, 6, 9, 12)]
    assert [match for part in parts for match in part.matches] == list(whole.matches)
    assert {part.total for part in parts} == {10}
    assert all(part.total_is_exact and part.coverage.complete for part in parts)
    counted = place.search("content:x", 0, 0)
    assert (counted.matches, counted.total) == ((), 10)


def test_a_deadline_returns_what_there_is_and_says_that_it_is_not_all(lab, stingy):
    place = lab({f"f{number}": "x\n" for number in range(10)})
    page = place.search("content:x", budget=stingy(4))
    assert [match.path for match in page.matches] == ["f0", "f1", "f2", "f3"]
    assert (page.total, page.total_is_exact) == (4, False)
    assert (page.coverage.files, page.coverage.searched) == (10, 4)
    assert not page.coverage.complete


def test_a_deadline_inside_one_file_keeps_the_lines_before_it(lab, stingy):
    place = lab({"f": "x\n" * 50_000})
    page = place.search("content:x", budget=stingy(3))
    assert 0 < page.total < 50_000
    assert not page.total_is_exact
    assert page.coverage.searched == 0
    assert [match.line for match in page.matches[:3]] == [1, 2, 3]


def test_a_deadline_is_seen_inside_one_large_file_without_a_match(lab, stingy):
    budget = stingy(3)
    page = lab({"f": "some text\n" * 90_000}).search("content:z[0-9]", budget=budget)
    assert not page.total_is_exact
    assert budget.left == -1


def test_a_caller_that_went_away_gets_cancelled(lab, cancelled):
    with pytest.raises(Cancelled):
        lab({"f": "x\n"}).search("x", budget=Budget("search", "scan", 60.0, cancelled))


def test_a_budget_that_is_over_before_the_tree_is_listed_times_out(lab):
    with pytest.raises(QueryError) as caught:
        lab({"f": "x\n"}).search("x", budget=Budget("search", "scan", 1e-9))
    assert caught.value.code is WireCode.OPERATION_TIMEOUT


def test_a_long_file_reports_the_right_lines(lab):
    text = "".join(f"line {number}\n" for number in range(1, 50_001))
    place = lab({"f": text})
    assert place.hits("content:7777$") == [
        ("f", line) for line in (7777, 17777, 27777, 37777, 47777)
    ]
    assert place.search("content:line").total == 50_000
    last = place.search("content:line", 49_999, 10).matches
    assert last == (SearchMatch("f", 50_000, "line 50000", span=(0, 4)),)


def test_a_huge_line_is_searched_whole_and_shown_in_part(lab):
    place = lab({"f": "é" * 400_000 + "needle\nnext\n"})
    assert place.hits("content:needle") == [("f", 1)]
    assert place.hits("content:next") == [("f", 2)]
    (snippet,) = place.snippets("content:needle")
    assert set(snippet) == {"é"}
    assert len(snippet) == 50_000


def test_a_line_is_found_on_either_side_of_a_search_window(lab):
    filler = "-" * 99 + "\n"
    text = filler * 655 + "needle one\n" + filler * 700 + "needle two\n" + filler
    assert lab({"f": text}).hits("content:^need.e") == [("f", 656), ("f", 1357)]


@pytest.mark.parametrize(
    "pattern",
    [r"(x+x+)+y", r"(a|a)*c", r"(.*)(.*)(.*)(.*)z", r"(a?){60}a{60}b", r"[ab]*a[ab]{200}c"],
)
def test_a_pattern_that_explodes_elsewhere_ends_here(lab, pattern):
    place = lab({"f": "x" * 3000 + "\n" + "a" * 3000 + "\n" + "ab" * 1500 + "\n"})
    assert place.hits(f"content:{pattern}") == []


def test_content_with_nul_behind_the_first_8_kb_is_searched(lab):
    place = lab({"f": b"a\n" * 5000 + b"x\0needle\n"})
    assert place.hits("content:needle") == [("f", 5001)]
    assert place.snippets("content:needle") == ["x\0needle"]


def test_paths_are_spelled_as_every_answer_spells_them(lab):
    place = lab({b"caf\xe9": b"x\n", b'"q"': b"x\n", "naïve".encode(): b"x\n", b"a\nb": b"x\n"})
    assert place.paths("content:x") == ['"\\"q\\""', "a\nb", '"caf\\351"', "naïve"]
    assert place.paths("file:^café$") == ['"caf\\351"']
    assert place.search("file:^caf").matches[0].snippet == '"caf\\351"'


def test_snippets_never_hold_half_a_character(lab):
    place = lab({"f": b"x \xed\xa0\x80 \xff\n", "g": b"\xff\xfe" + b"x\x00\x00\xd8\n\x00"})
    for snippet in place.snippets("content:x"):
        snippet.encode("utf-8")
    assert len(place.snippets("content:x")) == 2


def matches(place, text, **options):
    query = SearchQuery(text, 0, 1_000, **options)
    return place.scanner.search(place.scope, query, Budget("search", "scan", 60.0)).matches


def spans(place, text, **options):
    return [(match.line, match.span) for match in matches(place, text, **options)]


def test_a_span_is_the_first_hit_of_the_line_in_bytes(lab):
    place = lab({"f": "x foo foo\nfoo\nété foo\n  FOO\nz\n"})
    assert spans(place, "content:foo") == [(1, (2, 5)), (2, (0, 3)), (3, (6, 9)), (4, (2, 5))]
    assert spans(place, r"content:\bfoo$") == [(1, (6, 9)), (2, (0, 3)), (3, (6, 9)), (4, (2, 5))]
    assert spans(place, "content:^") == [(line, (0, 0)) for line in (1, 2, 3, 4, 5)]
    assert spans(place, "file:f$") == [(0, (0, 0))]


def test_of_two_words_on_a_line_the_span_is_the_leftmost_ones(lab):
    place = lab({"f": "b a b\na b\n", "w": "b a\r\n"})
    assert spans(place, "content:a content:b") == [(1, (0, 1)), (2, (0, 1)), (1, (0, 1))]
    assert spans(place, r"content:a content:a\sb") == [(1, (2, 3)), (2, (0, 1))]


def test_a_span_ends_with_its_first_line(lab):
    place = lab({"f": "one two\nthree\n", "w": "one two\r\nthree\r\n"})
    assert spans(place, r"content:two\s+three") == [(1, (4, 7))] * 2
    assert spans(place, "two\nthree", mode=QueryMode.LITERAL) == [(1, (4, 7))] * 2
    assert spans(place, r"content:\sthree") == [(2, (0, 5))] * 2


def around(place, text, count):
    found = matches(place, text, context_lines=count)
    return [(match.line, match.before, match.after) for match in found]


def test_lines_around_a_match_are_those_of_the_file_and_end_with_it(lab):
    place = lab({"f": "a\nb\n\nd\ne"})
    assert around(place, "content:[ade]", 2) == [
        (1, (), ("b", "")),
        (4, ("b", ""), ("e",)),
        (5, ("", "d"), ()),
    ]
    assert around(place, "content:d", 0) == [(4, (), ())]
    assert around(place, "content:d", 9) == [(4, ("a", "b", ""), ("e",))]
    assert around(place, "file:f$", 2) == [(0, (), ())]
    assert around(lab({"f": "a\nb\n"}), "content:b", 2) == [(2, ("a",), ())]
    assert around(lab({"f": "a\n\n"}), "content:a", 2) == [(1, (), ("",))]


def test_lines_around_a_match_are_shown_as_a_match_is(lab):
    place = lab({"f": "é\r\nb\r\nc\r\n", "g": b"caf\xe9\nb\n\xff\n"})
    lost = "\N{REPLACEMENT CHARACTER}"
    assert around(place, "content:b", 1) == [(2, ("é",), ("c",)), (2, (f"caf{lost}",), (lost,))]


def test_a_literal_is_one_text_in_the_content_or_the_path(lab):
    place = lab({"a(b": "x\n", "f": "y a(b z\r\n", "g": "Aa(B\n"})
    assert spans(place, "a(b", mode=QueryMode.LITERAL) == [(0, (0, 0)), (1, (2, 5)), (1, (1, 4))]
    assert spans(place, " a(b ", mode=QueryMode.LITERAL) == [(1, (1, 6))]
    assert spans(place, "a(B", mode=QueryMode.LITERAL) == [(1, (1, 4))]
    assert spans(place, "file:f", mode=QueryMode.LITERAL) == []
    assert spans(place, "y a|X", mode=QueryMode.REGEX) == [(1, (0, 3))]


def test_the_pin_is_proved_before_anything_is_answered(lab):
    place = lab({"f": "x\n"})
    assert place.hits("content:x") == [("f", 1)]
    place.objects.keep("demo", "ctx", "b" * 40)
    with pytest.raises(QueryError) as caught:
        place.search("x")
    assert caught.value.code is WireCode.SOURCE_MISMATCH
    assert caught.value.details["declared_revision"] == place.revision
    assert caught.value.details["actual_revision"] == "b" * 40


def test_a_commit_or_blob_that_is_gone_is_a_mismatch_not_an_empty_answer(lab):
    place = lab({"f": "x\n", "g": "y\n"})
    place.objects.lose_blob("demo", b"y\n")
    with pytest.raises(QueryError) as caught:
        place.search("x")
    assert caught.value.code is WireCode.SOURCE_MISMATCH
    place.objects.lose_commit("demo", place.revision)
    with pytest.raises(QueryError) as caught:
        place.search("x")
    assert caught.value.details["actual_revision"] is None


def test_an_artifact_of_another_tree_is_a_mismatch(lab):
    place = lab({"f": "x\n"})
    artifact = Artifact(ArtifactKind.SEARCH, "scan", "1", "c" * 40, place.revision)
    place.scope = Scope("ctx", Member("demo", "main", place.revision, artifact))
    with pytest.raises(QueryError) as caught:
        place.search("x")
    assert caught.value.code is WireCode.SOURCE_MISMATCH


def test_two_revisions_share_blobs_and_never_answers(lab):
    place = lab({"same": "x\n", "old": "x\n"})
    place.search("content:x")
    reads = len(place.objects.reads)
    revision = place.objects.commit("demo", {b"same": b"x\n", b"new": b"x y\n"})
    scope = Scope("ctx", Member("demo", "main", revision))
    page = place.scanner.search(scope, SearchQuery("content:x", 0, 9), Budget("s", "scan", 60.0))
    assert [match.path for match in page.matches] == ["new", "same"]
    assert page.revision == revision
    assert len(place.objects.reads) == reads + 1
    assert place.paths("content:x") == ["old", "same"]


def test_many_threads_get_the_answers_that_one_gets(lab):
    files = {f"d{number % 7}/f{number}": f"word{number % 5}\nx\n" * 20 for number in range(60)}
    place = lab(files, cache_bytes=3000)
    queries = ["word1", "x -word2", "file:d3 x", "word1 or word4", "lang:go"]
    wanted = [place.search(text) for text in queries]
    wrong = []

    def ask():
        for _ in range(5):
            wrong.extend(
                text
                for text, page in zip(queries, wanted, strict=True)
                if place.search(text) != page
            )

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_new_scanner_needs_nothing_but_objects(lab):
    place = lab({"f": "x\n"})
    scanner = ScanSearch(place.objects, max_file_bytes=10)
    assert scanner.name == "scan"
    budget = Budget("search", "scan", 60.0)
    assert scanner.search(place.scope, SearchQuery("x", 0, 1), budget).total == 1


@pytest.mark.parametrize(
    ("line", "word", "shown"),
    [
        (b"caf\xe9 latin1", "latin1", "caf\ufffd latin1"),
        (b"\xe9\xe9 x\xe9z", "xé", "\ufffd\ufffd x\ufffdz"),
        (b"\xe2\x82 cut z", "cut", "\ufffd cut z"),
        ("naïve ".encode() + b"\xff end", "end", "naïve \ufffd end"),
    ],
)
def test_a_hit_stands_where_the_shown_line_has_it(lab, indexed, line, word, shown):
    for page in (lab({"f": line}).search(word), indexed({b"f": line}).page(word)):
        (match,) = page.matches
        assert match.snippet == shown
        start, end = match.span
        found = shown.encode()[start:end].decode()
        assert found == word.replace("é", "\ufffd")
