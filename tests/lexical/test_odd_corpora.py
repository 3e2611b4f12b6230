"""Trees that no one means to have: the index finds in them what the scanner finds."""

import random

import pytest

from vacmcpd.ports.search import QueryMode
from vacmcpd.testing.objects import Submodule, Symlink

QUERIES = [
    "needle",
    "NEEDLE",
    "ne{2}dle\\d",
    '"^needle"',
    '"needle$"',
    "needle -other",
    "file:needle or other",
    '"(?s)e.{0,20}\\\\nother"',
    "[^a-z\\s]{3}",
    "type:file n",
    "content:.",
]


def check_all(made, queries=QUERIES, **options):
    for text in queries:
        made.check(text, **options)


def test_files_without_a_byte_or_with_one(indexed):
    check_all(indexed({b"empty": b"", b"feed": b"\n", b"a": b"a", b"needle": b"", b"cr": b"\r\n"}))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r", b"\n\n", b""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_of_every_kind(indexed, end, mark):
    text = mark + end.join([b"needle7", b"other needle", b"", b"caf\xe9 needle", b"last"]) + end
    made = indexed({b"latin": text, b"utf8": text.replace(b"\xe9", "é".encode())})
    check_all(made, [*QUERIES, "café", "^last$", "\\r"])
    check_all(made, ["needle", "last"], context_lines=2)


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_emoji_line_ends_and_half_characters(indexed, order):
    mark = "\ufeff".encode(order)
    text = "needle 😀 ünï\r\nother needle1\n\u2028needle\u0085\r\n".encode(order)
    files = {
        b"whole": mark + text,
        b"cut": mark + text[:-1],
        b"half": mark + "needle ".encode(order) + "\ud83d".encode(order, "surrogatepass") + text,
        b"zero": mark + text + "\0needle".encode(order),
        b"only": mark,
    }
    check_all(indexed(files), [*QUERIES, "😀", "ünï", "ÜNÏ", "\\x{1F600} \\pL"])


def test_letters_that_fold_into_ascii_and_scripts_without_case(indexed):
    files = {
        b"kelvin": "\u212aelvin mi\u017f\u017fing Kelvin\n".encode(),
        b"plain": b"kelvin missing\n" * 2_000,
        "\u212a.txt".encode(): b"needle\n",
        b"mixed": "日本語 עברית ΣΊΣΥΦΟΣ σίσυφος ﬀ ẞß İı\n".encode() * 900,
    }
    made = indexed(files)
    for text in [
        "kelvin",
        "KELVIN",
        "missing",
        "k",
        "日本",
        "σίσυφος",
        "ß",
        "i̇",
        "\u0131",
        "ﬀ",
        "k.txt",
    ]:
        for case in ("", " case:yes", " case:no"):
            made.check(f"{text}{case}")
        made.check(text, mode=QueryMode.LITERAL)


def test_a_nul_anywhere_behind_the_first_8_kb(indexed):
    late = b"x" * 8_192 + b"\0needle\0\nother needle\n\0\0\0"
    early = b"x" * 8_191 + b"\0needle\n"
    made = indexed({b"late": late, b"early": early, b"long": b"line\n" * 9_000 + b"\0needle\0"})
    check_all(made, [*QUERIES, "\\x00needle", "[\\x00]{3}", "\\x00$"])
    assert made.page("needle").coverage.skipped == {"binary": 1}


@pytest.mark.slow
def test_a_blob_under_three_thousand_paths(indexed):
    same = b"needle one\nother\nneedle two\n"
    files = {b"d%d/f%d.py" % (number % 50, number): same for number in range(3_000)}
    made = indexed({**files, b"one": b"needle\n"}, {**files, b"two": b"other needle\n"})
    assert made.check("needle") == 6_001
    check_all(made)
    assert len(made.artifacts.writes) == 4


def test_paths_with_line_feeds_and_bytes_that_are_no_text(indexed):
    names = [
        b"a\nneedle",
        b"needle\nb",
        b"\nother",
        b"a\n",
        b"a\n\nb.go",
        b"\xff\xfeneedle",
        b"d\xe9/needle.go",
        b'tab\tand "quote"',
        "naïve/ﬀ".encode(),
        "na\u0308ive".encode(),
        b"\x01\x7f",
        b"x" * 4_000,
        b"%2e%2e",
        b"-f",
        b"*",
    ]
    made = indexed({name: b"needle in %d\n" % at for at, name in enumerate(names)})
    queries = ["^needle$", "a$", "^b", "file:^needle", "file:needle$", "file:\\xff", "é", "file:ÿ"]
    check_all(made, [*QUERIES, *queries, "file:go$ needle", "file:\\n", "-file:\\n", 'f:"\\\\Aa"'])


def test_binary_files_alone(indexed):
    made = indexed({b"a.bin": b"\0needle", b"needle.png": b"\x89PNG\0", b"c": b"\0" * 50_000})
    check_all(made)
    page = made.page("content:needle")
    assert (page.total, page.coverage.searched) == (0, 0)
    assert page.coverage.skipped == {"binary": 3}


def test_a_tree_of_a_submodule_or_of_links_alone(indexed):
    made = indexed(
        {b"needle": Submodule("a" * 40)},
        {b"link": Symlink(b"needle"), b"needle": Symlink(b"/etc/passwd")},
        {},
        {b"now": b"needle\n"},
        {b"needle": Submodule("b" * 40)},
    )
    check_all(made)
    assert made.page("passwd", 1).total == 0
    assert made.page("content:needle", 0).coverage.skipped == {"submodule": 1}
    assert made.page("content:needle", 1).coverage.skipped == {"symlink": 2}
    assert made.page("needle", 2).coverage.files == 0


def test_versions_that_have_nothing_in_common_merge_and_stay_apart(indexed):
    made = indexed()
    for version in range(14):
        words = {
            b"f%d" % number: b"needle v%d n%d\n" % (version, number) * (number + 1)
            for number in range(20 if version % 3 else 3)
        }
        made.add(words)
    for version in range(14):
        made.check(f'"v{version} n"', versions=range(14))
    check_all(made)


@pytest.mark.slow
def test_blocks_that_end_at_every_place_around_a_match(indexed):
    """Lines of such lengths that a match is the first, the last or the longest of a block."""
    files = {}
    for size in (1, 127, 4_095, 8_191, 16_383, 16_384, 16_385, 20_000, 70_000):
        line = b"x" * (size - 1) + b"\n"
        count = 70_000 // size
        files[b"f%d" % size] = b"needle1\n" + line * count + b"needle" + line + b"\nother\nneedle"
    made = indexed(files)
    spanning = [
        "needle1\\nx",
        "x\\n\\s*other",
        "^$",
        "\\Aneedle",
        "needle\\z",
        "(?s)1.*other",
        "x$",
    ]
    check_all(made, [*QUERIES, *(f'"{each}"'.replace("\\", "\\\\") for each in spanning)])
    for text in spanning:
        made.check(text, mode=QueryMode.REGEX)


@pytest.mark.slow
def test_a_line_of_fifty_megabytes_with_the_needle_at_its_end(indexed):
    rng = random.Random(5)
    words = [b"%x" % rng.getrandbits(40) for _ in range(2_000)]
    line = b" ".join(words[at * 7 % 2_000] for at in range(5_000_000))[:50_000_000]
    made = indexed({b"huge": line + b"NeedleAtEnd", b"small": b"needleAtEnd\n"})
    for text in ["NeedleAtEnd", "needleatend", "Needle[A]tEnd$", "absent_string", "file:huge"]:
        assert made.check(text) <= 2
    match = made.page("NeedleAtEnd").matches[0]
    assert (match.path, match.line, match.span) == ("huge", 1, (50_000_000, 50_000_011))


@pytest.mark.slow
def test_a_hundred_thousand_tiny_files(indexed):
    files = {
        b"d%d/e%d/f%d.go" % (number % 97, number % 11, number): b"needle%d of %d\n"
        % (number % 1_000, number)
        for number in range(100_000)
    }
    changed = {**files, b"d0/e0/f0.go": b"other needle\n", b"new": b"needle new\n"}
    made = indexed(files, changed)
    assert made.check("needle77", versions=[1]) == 1_100
    for text in ["of 12345$", "file:e3/ needle5", "absent", "-needle lang:go", "needle -lang:go"]:
        made.check(text, versions=[1])
    page = made.page("needle", limit=10)
    assert (len(page.matches), page.coverage.files) == (10, 100_001)
    assert made.page("needle", limit=0).total == 100_001
    assert made.page("content:needle", at=0, limit=0).total == 100_000
